// SPDX-License-Identifier: BSD-3-Clause
// Rows are split into processes; nothing is read beyond a cut or in foreign data.
#include <doctest/doctest.h>

#include "profile/late_sections.h"
#include "profile/rows_reader.h"
#include "test/unit/profile/rows_builder.h"

namespace fathom::profile {
namespace {

using test::RowsBuilder;

TEST_CASE("every section of each process is read back in turn") {
  const std::string rows = test::sample_rows();
  RowsReader reader(rows.data(), rows.size());
  ProcessRows process;
  REQUIRE(reader.next(process));
  CHECK(process.header.rank == 0);
  CHECK(process.text_of("host") == "n0");
  CHECK(process.text_of("note") == "a\nb");
  CHECK(process.text_of("absent").empty());
  CHECK(process.communicators.size() == 2);
  CHECK(process.foreign_members.size() == 1);
  CHECK(process.cells.size() == 6);
  CHECK(process.sizes.empty());
  CHECK_FALSE(process.truncated);
  REQUIRE(reader.next(process));
  CHECK(process.header.rank == 1);
  CHECK(process.cells.size() == 4);
  CHECK(process.sizes.size() == 3);
  CHECK(process.foreign_members.empty());
  CHECK_FALSE(reader.next(process));
  CHECK_FALSE(reader.next(process));
}

TEST_CASE("a section may come more than once") {
  std::string rows = RowsBuilder(0, 1).sent(0, 1, 1).bytes();
  const CellRow more[2] = {};
  RowsBuilder::section(rows, Section::kCells, more, sizeof more);
  RowsReader reader(rows.data(), rows.size());
  ProcessRows process;
  REQUIRE(reader.next(process));
  CHECK(process.cells.size() == 3);
}

TEST_CASE("a section that comes late is added to the rows of its process") {
  const std::string before = test::sample_rows();
  std::string section;
  const PathRow more[2] = {};
  RowsBuilder::section(section, Section::kPath, more, sizeof more);
  const std::vector<char> late(section.begin(), section.end());
  std::vector<char> rows(before.begin(), before.end());
  add_late_sections(rows, {{1, late}, {7, late}});
  REQUIRE(rows.size() == before.size() + section.size());
  RowsReader reader(rows.data(), rows.size()), old_reader(before.data(), before.size());
  ProcessRows process, old;
  for (const std::size_t added : {0, 2}) {
    REQUIRE(reader.next(process));
    REQUIRE(old_reader.next(old));
    CHECK(process.path.size() == old.path.size() + added);
    CHECK(process.header.rank == old.header.rank);
    CHECK(process.text == old.text);
    CHECK(process.windows.size() == old.windows.size());
    CHECK_FALSE(process.truncated);
  }
  CHECK_FALSE(reader.next(process));

  std::vector<char> cut(before.begin(), before.end() - 3);
  add_late_sections(cut, {{0, late}});
  CHECK(cut.size() == before.size() - 3 + section.size());
  std::vector<char> nothing;
  add_late_sections(nothing, {{0, late}});
  CHECK(nothing.empty());
}

TEST_CASE("a section of a later release is skipped") {
  RowsBuilder builder(0, 1);
  std::string rows(reinterpret_cast<const char*>(&builder.header), sizeof builder.header);
  RowsBuilder::section(rows, static_cast<Section>(99), "unknown", 7);
  RowsBuilder::section(rows, Section::kText, "host n0\n", 8);
  RowsReader reader(rows.data(), rows.size());
  ProcessRows process;
  REQUIRE(reader.next(process));
  CHECK(process.text_of("host") == "n0");
  CHECK_FALSE(process.truncated);
}

TEST_CASE("text without an end of line or a value is skipped") {
  RowsBuilder builder(0, 1);
  builder.text = "host n0\nlonely\n\nempty \nexecutable half";
  const std::string rows = builder.bytes();
  RowsReader reader(rows.data(), rows.size());
  ProcessRows process;
  REQUIRE(reader.next(process));
  CHECK(process.text.size() == 2);
  CHECK(process.text_of("executable").empty());
}

TEST_CASE("a payload said to be longer than the file is used as far as it goes") {
  std::string rows = RowsBuilder(0, 1).bytes();
  const SectionHeader lying{Section::kCells, 0, ~std::uint64_t{0}};
  rows.append(reinterpret_cast<const char*>(&lying), sizeof lying);
  const CellRow one{1, 2, 3, 4, 5};
  rows.append(reinterpret_cast<const char*>(&one), sizeof one);
  rows += "tail";
  RowsReader reader(rows.data(), rows.size());
  ProcessRows process;
  REQUIRE(reader.next(process));
  CHECK(process.truncated);
  REQUIRE(process.cells.size() == 1);
  CHECK(process.cells[0].messages == 3);
  CHECK_FALSE(reader.next(process));
}

TEST_CASE("a file without the magic has no rows") {
  ProcessRows process;
  CHECK_FALSE(RowsReader("", 0).next(process));
  CHECK_FALSE(RowsReader("FTHMROW1", 8).next(process));
  const std::string foreign(200, 'x');
  CHECK_FALSE(RowsReader(foreign.data(), foreign.size()).next(process));
}

// Each prefix is copied to its own memory, so that a sanitizer sees a read beyond its end.
TEST_CASE("a file cut at any byte gives whole records, and never fewer than one cut earlier") {
  const std::string rows = test::sample_rows();
  std::size_t before = 0;
  for (std::size_t size = 0; size <= rows.size(); ++size) {
    const std::vector<char> prefix(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(size));
    RowsReader reader(prefix.data(), prefix.size());
    std::size_t records = 0;
    for (ProcessRows process; reader.next(process);) {
      records += process.text.size() + process.communicators.size() +
                 process.foreign_members.size() + process.cells.size() + process.sizes.size() +
                 process.waits.size() + process.path.size() + 1;
    }
    REQUIRE(records >= before);
    before = records;
  }
  CHECK(before == 2 * (25 + 2 + 1) + 1 + 6 + 4 + 3 + 2 * (2 + 2));
}

}  // namespace
}  // namespace fathom::profile

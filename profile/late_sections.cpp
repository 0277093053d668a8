// SPDX-License-Identifier: BSD-3-Clause
#include "profile/late_sections.h"

#include <algorithm>
#include <cstring>

namespace fathom::profile {
namespace {

struct Record {
  std::uint32_t rank;
  std::size_t begin, end;
};

bool begins_at(const std::vector<char>& rows, std::size_t at) {
  return rows.size() - at >= sizeof(RowsHeader) &&
         std::memcmp(rows.data() + at, kRowsMagic, sizeof kRowsMagic) == 0;
}

// The rows of each process; whatever is not rows belongs to none. visit(rank, section, where its payload
// begins) for each section.
template <typename Visit>
std::vector<Record> records_of(const std::vector<char>& rows, Visit visit) {
  std::vector<Record> records;
  std::size_t at = 0;
  while (begins_at(rows, at)) {
    RowsHeader header{};
    std::memcpy(&header, rows.data() + at, sizeof header);
    const std::size_t begin = at;
    at += sizeof header;
    SectionHeader section{};
    while (rows.size() - at >= sizeof section && !begins_at(rows, at)) {
      std::memcpy(&section, rows.data() + at, sizeof section);
      visit(header.rank, section, at + sizeof section);
      const std::uint64_t padded = (section.payload_bytes + 7) / 8 * 8;
      at += std::min<std::uint64_t>(sizeof section + padded, rows.size() - at);
    }
    records.push_back({header.rank, begin, at});
  }
  return records;
}

}  // namespace

void for_each_section(const std::vector<char>& rows, Section kind,
                      const std::function<void(std::uint32_t, const char*, std::size_t)>& visit) {
  records_of(rows, [&](std::uint32_t rank, const SectionHeader& section, std::size_t at) {
    if (section.kind == kind && section.payload_bytes <= rows.size() - at)
      visit(rank, rows.data() + at, section.payload_bytes);
  });
}

void add_late_sections(std::vector<char>& rows, const LateSections& late) {
  const std::vector<Record> records =
      records_of(rows, [](std::uint32_t, const SectionHeader&, std::size_t) {});
  if (records.empty()) return;
  std::size_t added = 0;
  for (const Record& record : records)
    if (const auto found = late.find(record.rank); found != late.end())
      added += found->second.size();
  rows.resize(records.back().end);
  rows.resize(records.back().end + added);
  // From the last to the first, so that nothing is written over what is still to be moved.
  std::size_t end = rows.size();
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    if (const auto found = late.find(record->rank); found != late.end()) {
      end -= found->second.size();
      std::copy(found->second.begin(), found->second.end(), rows.data() + end);
    }
    const std::size_t size = record->end - record->begin;
    end -= size;
    std::memmove(rows.data() + end, rows.data() + record->begin, size);
  }
}

}  // namespace fathom::profile

// SPDX-License-Identifier: BSD-3-Clause
// The times of calls: from the processes' rows to the profile, to the file and back, and summed up.
#include <doctest/doctest.h>

#include <string>

#include "profile/assemble.h"
#include "profile/call_summary.h"
#include "profile/reader.h"
#include "profile/writer.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/profile/rows_builder.h"
#include "test/unit/profile/sample.h"

namespace fathom::profile {
namespace {

using test::contents;
using test::RowsBuilder;
using test::Scratch;
using Numbers = std::vector<std::uint64_t>;
using Ranks = std::vector<std::int64_t>;

RowsBuilder process(std::uint32_t rank, const std::string& rate = "1") {
  RowsBuilder rows(rank, 2);
  rows.text += "timed-function 9 MPI_Send\ncode-file 1 5f0c /usr/bin/a solver\nticks-per-ns " +
               rate + "\nphase 1 solve\n";
  return rows;
}

Profile assembled(const std::string& rows) {
  auto profile = assemble(rows.data(), rows.size());
  REQUIRE(profile);
  return *profile;
}

TEST_CASE("calls of a site on two ranks are one block, in nanoseconds of each rank's own clock") {
  RowsBuilder zero = process(0, "2"), one = process(1, "2.5");
  zero.called(0x40, 3, 600, 100, 400, 24);
  one.called(0x40, 1, 250, 250, 250, 8);
  const Profile profile = assembled(zero.bytes() + one.bytes());
  REQUIRE(profile.call_sites.size() == 1);
  CHECK(profile.call_sites[0].module == "/usr/bin/a solver");
  CHECK(profile.call_sites[0].build_id == "5f0c");
  CHECK(profile.call_sites[0].offset == 0x40);
  REQUIRE(profile.calls.size() == 1);
  const CallTimes& block = profile.calls[0];
  CHECK(block.function == "MPI_Send");
  CHECK(block.communicator == 0);
  CHECK(block.rank == Ranks{0, 1});
  CHECK(block.calls == Numbers{3, 1});
  CHECK(block.total_ns == Numbers{300, 100});
  CHECK(block.shortest_ns == Numbers{50, 100});
  CHECK(block.longest_ns == Numbers{200, 100});
  CHECK(block.bytes == Numbers{24, 8});
}

TEST_CASE("the threads of a rank add up, and so do its places in a histogram") {
  RowsBuilder zero = process(0), one = process(1);
  zero.called(0x40, 3, 600, 100, 400, 24).called(0x40, 2, 100, 20, 80, 2);
  zero.lasted(0x40, 6, 4).lasted(0x40, 6, 1);
  one.lasted(0x40, 8, 2);
  const Profile profile = assembled(zero.bytes() + one.bytes());
  REQUIRE(profile.calls.size() == 1);
  CHECK(profile.calls[0].calls == Numbers{5});
  CHECK(profile.calls[0].total_ns == Numbers{700});
  CHECK(profile.calls[0].shortest_ns == Numbers{20});
  CHECK(profile.calls[0].longest_ns == Numbers{400});
  REQUIRE(profile.call_durations.size() == 1);
  CHECK(profile.call_durations[0].low_ns == Numbers{64, 256});
  CHECK(profile.call_durations[0].calls == Numbers{5, 2});
}

TEST_CASE("calls whose time was not read are counted in a column of their own, if there are any") {
  RowsBuilder zero = process(0), one = process(1);
  zero.called(0x40, 30, 600, 20, 20, 0).called(0x50, 70, 700, 10, 10, 0, 0, 0, 60);
  zero.called(0x50, 5, 50, 10, 10, 0, 0, 0, 2);
  one.called(0x50, 1, 10, 10, 10, 0);
  const Profile profile = assembled(zero.bytes() + one.bytes());
  REQUIRE(profile.calls.size() == 2);
  CHECK(profile.calls[0].estimated.empty());
  CHECK(profile.calls[1].calls == Numbers{75, 1});
  CHECK(profile.calls[1].estimated == Numbers{62, 0});
}

TEST_CASE("sites, communicators and phases are kept apart") {
  RowsBuilder zero = process(0), one = process(1);
  zero.called(0x80, 1, 1, 1, 1, 0).called(0x40, 2, 1, 1, 1, 0);
  zero.called(0x40, 3, 1, 1, 1, 0, kNoCommunicator).called(0x40, 4, 1, 1, 1, 0, 0, 1);
  const Profile profile = assembled(zero.bytes() + one.bytes());
  REQUIRE(profile.calls.size() == 4);
  CHECK(profile.call_sites[0].offset == 0x40);  // sites by place, whoever came first
  CHECK(profile.calls[0].communicator == kNone);
  CHECK(profile.calls[0].calls == Numbers{3});
  CHECK(profile.calls[1].phase.empty());
  CHECK(profile.calls[2].phase == "solve");
  CHECK(profile.calls[2].calls == Numbers{4});
  CHECK(profile.calls[3].site == 1);
}

TEST_CASE("the order in which processes come makes no difference to their calls") {
  Scratch folder;
  RowsBuilder zero = process(0), one = process(1);
  zero.called(0x40, 1, 10, 10, 10, 0).lasted(0x40, 3, 1);
  one.called(0x80, 1, 10, 10, 10, 0).called(0x40, 1, 20, 20, 20, 0).lasted(0x80, 3, 1);
  REQUIRE(write_profile(assembled(zero.bytes() + one.bytes()), folder / "one.json"));
  REQUIRE(write_profile(assembled(one.bytes() + zero.bytes()), folder / "two.json"));
  CHECK(contents(folder / "one.json") == contents(folder / "two.json"));
}

TEST_CASE("calls that found no room are counted") {
  RowsBuilder zero = process(0), one = process(1);
  zero.text += "uncounted-calls 5\n";
  one.text += "uncounted-calls 6\n";
  CHECK(assembled(zero.bytes() + one.bytes()).coverage.untimed_calls == 11);
}

TEST_CASE("a profile with times read back and written again is the same file") {
  Scratch folder;
  REQUIRE(write_profile(test::timed_sample_profile(), folder / "first.json"));
  auto loaded = load_profile(folder / "first.json");
  REQUIRE_MESSAGE(loaded, loaded.error().message);
  CHECK(loaded->ranks[1].peak_memory_bytes == 123'456'789);
  CHECK(loaded->ranks[1].processor_wait_seconds == 0.5);
  CHECK(loaded->coverage.untimed_calls == 2);
  REQUIRE(loaded->calls.size() == 2);
  CHECK(loaded->calls[0].phase == "solve, outer");
  CHECK(loaded->calls[0].total_ns == Numbers{4000, 6000});
  CHECK(loaded->calls[1].communicator == kNone);
  REQUIRE(loaded->call_sites.size() == 2);
  CHECK(loaded->call_sites[0].file == "src/solver.c");
  CHECK(loaded->call_sites[0].line == 120);
  CHECK(loaded->call_durations[0].calls == Numbers{9, 1});
  REQUIRE(write_profile(*loaded, folder / "second.json"));
  CHECK(contents(folder / "first.json") == contents(folder / "second.json"));
}

std::string error_with(Profile profile) {
  Scratch folder;
  REQUIRE(write_profile(profile, folder / "profile.json"));
  auto loaded = load_profile(folder / "profile.json");
  return loaded ? "" : loaded.error().message;
}

TEST_CASE("calls that name an unknown rank, site or communicator are refused") {
  Profile profile = test::timed_sample_profile();
  profile.calls[0].rank[1] = 17;
  CHECK(error_with(profile).find("\"calls[0].rank\" names rank 17") != std::string::npos);
  profile = test::timed_sample_profile();
  profile.calls[1].site = 5;
  CHECK(error_with(profile).find("\"calls[1].site\" is 5") != std::string::npos);
  profile = test::timed_sample_profile();
  profile.calls[0].communicator = 9;
  CHECK(error_with(profile).find("\"calls[0].communicator\" is 9") != std::string::npos);
  profile = test::timed_sample_profile();
  profile.call_sites[1].id = 0;
  CHECK(error_with(profile).find("lists site 0 twice") != std::string::npos);
}

TEST_CASE("columns of calls that differ in length are not written") {
  Scratch folder;
  Profile profile = test::timed_sample_profile();
  profile.calls[0].bytes.pop_back();
  CHECK_FALSE(write_profile(profile, folder / "profile.json"));
}

TEST_CASE("a summary adds up ranks, sites and functions") {
  Profile profile = test::timed_sample_profile();
  profile.calls[1].total_ns = {2'000};
  CallSummary summary;
  for (const CallTimes& block : profile.calls) summary.add(block);
  const auto ranks = summary.ranks(profile);
  REQUIRE(ranks.size() == 3);  // rank 3 left nothing, and 4 is of another world
  CHECK(ranks[1].mpi_seconds == doctest::Approx(6e-6).scale(0));
  CHECK(ranks[2].mpi_seconds == 0);
  const auto sites = summary.sites(profile);
  REQUIRE(sites.size() == 2);
  CHECK(sites[0].function == "MPI_Send");
  CHECK(sites[0].sum.calls == 10);
  CHECK(sites[0].sum.bytes == 180);
  CHECK(sites[0].sum.longest_seconds == doctest::Approx(1.5e-6).scale(0));
  CHECK(sites[0].slowest_rank == 1);
  CHECK(sites[0].imbalance == doctest::Approx(6.0 / 2.5));
  CHECK(summary.functions()[1].first == "MPI_Wait");
}

TEST_CASE("a summary of one phase leaves the other calls out") {
  const Profile profile = test::timed_sample_profile();
  Selection selection;
  selection.phases = {"solve, outer"};
  CallSummary summary(selection);
  for (const CallTimes& block : profile.calls) summary.add(block);
  CHECK(summary.sites(profile).size() == 1);
}

}  // namespace
}  // namespace fathom::profile

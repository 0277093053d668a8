// SPDX-License-Identifier: BSD-3-Clause
// Waits and critical paths: from the processes' rows to the profile, to the file and back, and
// summed up.
#include <doctest/doctest.h>

#include <string>

#include "mpi/wait_kind.h"
#include "profile/assemble.h"
#include "profile/reader.h"
#include "profile/wait_summary.h"
#include "profile/writer.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/profile/rows_builder.h"
#include "test/unit/profile/sample.h"

namespace fathom::profile {
namespace {

using test::contents;
using test::RowsBuilder;
using test::Scratch;
using Counts = std::vector<std::uint64_t>;
using Ranks = std::vector<std::int64_t>;

constexpr auto kLateSender = static_cast<std::uint32_t>(mpi::WaitKind::kLateSender);
constexpr auto kAllToAll = static_cast<std::uint32_t>(mpi::WaitKind::kAllToAll);

RowsBuilder waiting(std::uint32_t rank) {
  RowsBuilder rows(rank, 3);
  rows.text += "timed-function 9 MPI_Wait\ncode-file 1 5f0c /usr/bin/solver\nphase 1 solve\n";
  return rows;
}

Profile profile_of(const std::vector<RowsBuilder>& processes) {
  std::string rows;
  for (const RowsBuilder& each : processes) rows += each.bytes();
  auto profile = assemble(rows.data(), rows.size());
  REQUIRE(profile);
  return *profile;
}

TEST_CASE("waits of one kind at one site are one block, with a row for each pair") {
  RowsBuilder zero = waiting(0), one = waiting(1), two = waiting(2);
  two.waited(0x40, kLateSender, 1, 3, 600, 400).waited(0x40, kLateSender, 0, 1, 50, 50);
  one.waited(0x40, kLateSender, 0, 2, 100, 70).waited(0x40, kAllToAll, 2, 1, 9, 9);
  const Profile profile = profile_of({zero, two, one});
  REQUIRE(profile.waits.size() == 2);
  const CallWaits& block = profile.waits[0];
  CHECK(block.kind == "late-sender");
  CHECK(block.function == "MPI_Wait");
  CHECK(block.communicator == 0);
  CHECK(block.rank == Ranks{1, 2, 2});
  CHECK(block.awaited == Ranks{0, 0, 1});
  CHECK(block.waits == Counts{2, 1, 3});
  CHECK(block.total_ns == Counts{100, 50, 600});
  CHECK(block.longest_ns == Counts{70, 50, 400});
  CHECK(profile.waits[1].kind == "wait-at-nxn");
  CHECK(profile.call_sites[static_cast<std::size_t>(block.site)].offset == 0x40);
}

TEST_CASE("waits of the threads of a rank add up; phases and sites are kept apart") {
  RowsBuilder zero = waiting(0), one = waiting(1), two = waiting(2);
  one.waited(0x40, kLateSender, 0, 2, 100, 70).waited(0x40, kLateSender, 0, 1, 90, 90);
  one.waited(0x40, kLateSender, 0, 1, 5, 5, 1).waited(0x80, kLateSender, 0, 1, 6, 6);
  const Profile profile = profile_of({zero, one, two});
  REQUIRE(profile.waits.size() == 3);
  CHECK(profile.waits[0].waits == Counts{3});
  CHECK(profile.waits[0].total_ns == Counts{190});
  CHECK(profile.waits[0].longest_ns == Counts{90});
  CHECK(profile.waits[1].phase == "solve");
  CHECK(profile.waits[2].site == 1);
}

TEST_CASE("a process of another world that is waited for has its number in the profile") {
  RowsBuilder zero = waiting(0), one = waiting(1), two = waiting(2);
  zero.waited(0x40, kLateSender, 4, 1, 10, 10, 0, 90);
  one.waited(0x40, kLateSender, 7, 1, 20, 20, 0, 88);
  const Profile profile = profile_of({zero, one, two});
  REQUIRE(profile.waits.size() == 1);
  REQUIRE(profile.ranks.size() == 5);
  CHECK(profile.waits[0].awaited == Ranks{4, 3});  // worlds in the order of their numbers
  CHECK(profile.ranks[3].rank_in_world == 7);
}

TEST_CASE("what the waits leave out is added up, and the largest threshold counts") {
  RowsBuilder zero = waiting(0), one = waiting(1), two = waiting(2);
  zero.text += "waits 1000 1 500 0 0\n";
  one.text += "waits 4000 10 20000 2 30\n";
  Profile profile = profile_of({zero, one, two});
  REQUIRE(profile.coverage.waits);
  CHECK(profile.coverage.waits->threshold_ns == 4000);
  CHECK(profile.coverage.waits->left_out == 11);
  CHECK(profile.coverage.waits->left_out_ns == 20500);
  CHECK(profile.coverage.waits->unresolved == 2);
  CHECK(profile.coverage.waits->unresolved_ns == 30);
  CHECK(profile.coverage.waits_unknown.empty());

  RowsBuilder blind = waiting(0);
  blind.text += "waits-unknown the program ended early\n";
  profile = profile_of({blind});
  CHECK_FALSE(profile.coverage.waits);
  CHECK(profile.coverage.waits_unknown == "the program ended early");
}

TEST_CASE("each process adds its part of the path through each window") {
  RowsBuilder zero = waiting(0), one = waiting(1), two = waiting(2);
  zero.text += "path-window 1 inner loop\npath 0 900 3 10\npath 1 70 0 0\n";
  two.text += "path-window 4 inner loop\n";
  zero.on_path(0x40, true, 2, 500).on_path(0x40, false, 1, 100);
  one.on_path(0x40, true, 1, 300);
  two.on_path(0x40, true, 1, 70, 4);
  const Profile profile = profile_of({two, one, zero});
  REQUIRE(profile.path.size() == 2);
  const CriticalPath& run = profile.path[0];
  CHECK(run.window.empty());
  CHECK(run.elapsed_ns == 900);
  CHECK(run.jumps == 3);
  CHECK(run.error_ns == 10);
  REQUIRE(run.parts.size() == 2);
  CHECK_FALSE(run.parts[0].program);
  CHECK(run.parts[0].total_ns == Counts{100});
  CHECK(run.parts[1].program);
  CHECK(run.parts[1].rank == Ranks{0, 1});
  CHECK(run.parts[1].stretches == Counts{2, 1});
  CHECK(run.parts[1].total_ns == Counts{500, 300});
  CHECK(profile.path[1].window == "inner loop");
  CHECK(profile.path[1].elapsed_ns == 70);
  CHECK(profile.path[1].parts[0].rank == Ranks{2});
}

TEST_CASE("a window that was opened several times is one, with what each process did inside") {
  RowsBuilder zero = waiting(0), one = waiting(1), two = waiting(2);
  zero.text += "path-window 1 loop\npath 1 500 3 10\n";
  one.text += "path-window 1 loop\npath 1 70 1 5\n";
  two.text += "path-window 1 loop\n";
  zero.on_path(0x40, true, 2, 500, 1);
  one.on_path(0x40, false, 1, 70, 1);
  one.path.back().calls = 2;
  one.path.back().bytes = 16;
  zero.inside(1, 4, 600).called_inside(1, 3, 80, 10, 24);
  one.inside(1, 4, 610).called_inside(1, 3, 90, 20, 8);
  two.inside(1, 4, 620);
  const Profile profile = profile_of({zero, one, two});
  REQUIRE(profile.path.size() == 1);
  const CriticalPath& loop = profile.path[0];
  CHECK(loop.elapsed_ns == 570);
  CHECK(loop.jumps == 4);
  CHECK(loop.error_ns == 15);
  CHECK(loop.openings == 4);
  REQUIRE(loop.parts.size() == 2);
  CHECK(loop.parts[0].calls == Counts{2});
  CHECK(loop.parts[0].bytes == Counts{16});
  CHECK(loop.ranks.rank == Ranks{0, 1, 2});
  CHECK(loop.ranks.total_ns == Counts{600, 610, 620});
  REQUIRE(loop.calls.size() == 1);
  CHECK(loop.calls[0].function == "MPI_Wait");
  CHECK(loop.calls[0].communicator == 0);
  CHECK(loop.calls[0].rank == Ranks{0, 1});
  CHECK(loop.calls[0].calls == Counts{3, 3});
  CHECK(loop.calls[0].total_ns == Counts{80, 90});
  CHECK(loop.calls[0].waiting_ns == Counts{10, 20});
  CHECK(loop.calls[0].bytes == Counts{24, 8});
}

TEST_CASE("parts of a path whose length nobody left are left out") {
  RowsBuilder zero = waiting(0);
  zero.on_path(0x40, true, 2, 500);
  CHECK(profile_of({zero}).path.empty());
}

TEST_CASE("a profile with waits read back and written again is the same file") {
  Scratch folder;
  REQUIRE(write_profile(test::waiting_sample_profile(), folder / "first.json"));
  auto loaded = load_profile(folder / "first.json");
  REQUIRE_MESSAGE(loaded, loaded.error().message);
  REQUIRE(loaded->waits.size() == 2);
  CHECK(loaded->waits[0].communicator == kNone);
  CHECK(loaded->waits[1].phase == "solve, outer");
  CHECK(loaded->waits[1].awaited == Ranks{3, 3, 4});
  REQUIRE(loaded->path.size() == 2);
  CHECK(loaded->path[0].error_ns == 40'000'000);
  CHECK(loaded->path[0].parts[1].program);
  CHECK(loaded->path[0].parts[0].bytes == Counts{64});
  CHECK(loaded->path[1].window == "solver");
  CHECK(loaded->path[1].openings == 3);
  CHECK(loaded->path[1].ranks.total_ns == Counts{2'100, 1'900});
  REQUIRE(loaded->path[1].calls.size() == 1);
  CHECK(loaded->path[1].calls[0].waiting_ns == Counts{0, 500});
  REQUIRE(loaded->coverage.waits);
  CHECK(loaded->coverage.waits->unresolved_ns == 1'800);
  REQUIRE(write_profile(*loaded, folder / "second.json"));
  CHECK(contents(folder / "first.json") == contents(folder / "second.json"));
}

TEST_CASE("long tables of waits are split, sorted by pair") {
  Scratch folder;
  Profile profile = test::waiting_sample_profile();
  CallWaits& block = profile.waits[0];
  for (auto* column : {&block.rank, &block.awaited}) column->assign(kBlockRows + 1, 0);
  for (auto* column : {&block.waits, &block.total_ns, &block.longest_ns})
    column->assign(kBlockRows + 1, 1);
  block.rank.front() = 3;
  REQUIRE(write_profile(profile, folder / "profile.json"));
  auto loaded = load_profile(folder / "profile.json");
  REQUIRE(loaded);
  REQUIRE(loaded->waits.size() == 3);
  CHECK(loaded->waits[0].rank.size() == kBlockRows);
  CHECK(loaded->waits[0].rank.front() == 0);
  CHECK(loaded->waits[1].rank == Ranks{3});
}

std::string error_with_waits(const Profile& profile) {
  Scratch folder;
  REQUIRE(write_profile(profile, folder / "profile.json"));
  auto loaded = load_profile(folder / "profile.json");
  return loaded ? "" : loaded.error().message;
}

TEST_CASE("waits and paths that name an unknown rank, site or communicator are refused") {
  Profile profile = test::waiting_sample_profile();
  profile.waits[0].awaited[1] = 17;
  CHECK(error_with_waits(profile).find("\"waits[0].awaited\" names rank 17") != std::string::npos);
  profile = test::waiting_sample_profile();
  profile.waits[1].communicator = 9;
  CHECK(error_with_waits(profile).find("\"waits[1].communicator\" is 9") != std::string::npos);
  profile = test::waiting_sample_profile();
  profile.path[1].parts[0].site = 5;
  CHECK(error_with_waits(profile).find("\"path[1].parts[0].site\" is 5") != std::string::npos);
  profile = test::waiting_sample_profile();
  profile.path[0].parts[2].rank = {12};
  CHECK(error_with_waits(profile).find("\"path[0].parts[2].rank\" names rank 12") !=
        std::string::npos);
}

TEST_CASE("columns of waits or paths that differ in length are not written") {
  Scratch folder;
  Profile profile = test::waiting_sample_profile();
  profile.waits[0].longest_ns.pop_back();
  CHECK_FALSE(write_profile(profile, folder / "profile.json"));
  profile = test::waiting_sample_profile();
  profile.path[0].parts[1].total_ns.pop_back();
  CHECK_FALSE(write_profile(profile, folder / "profile.json"));
}

TEST_CASE("a summary of waits adds up pairs and names the call that waited longest") {
  Profile profile = test::waiting_sample_profile();
  profile.waits.push_back(profile.waits[0]);
  profile.waits.back().kind = "wait-at-init";  // outside the time that shares are of
  profile.waits.push_back(profile.waits.back());
  profile.waits.back().kind = "wait-at-finalize";
  profile.waits.back().total_ns[0] += 1'000'000'000;
  profile.waits[1].rank = {1, 1, 2};
  profile.waits[1].awaited = {0, 3, 4};
  WaitSummary summary;
  for (const CallWaits& block : profile.waits) summary.add(block);
  CHECK(summary.seconds() == doctest::Approx(0.968));
  const std::vector<WaitPair> pairs = summary.pairs();
  REQUIRE(pairs.size() == 4);
  CHECK(pairs[0].rank == 1);
  CHECK(pairs[0].awaited == 0);
  CHECK(pairs[0].waits == 11);
  CHECK(pairs[0].seconds == doctest::Approx(0.7));
  CHECK(pairs[0].longest_seconds == doctest::Approx(0.3));
  CHECK(pairs[0].kind == "late-sender");
  CHECK(pairs[0].function == "MPI_Wait");
  CHECK(pairs[0].seconds_there == doctest::Approx(0.4));
  CHECK(pairs[1].awaited == 3);
  CHECK(pairs[3].seconds == doctest::Approx(0.018));
  const std::vector<WaitingCall> calls = summary.calls(3);
  REQUIRE(calls.size() == 3);
  CHECK(calls[0].function == "MPI_Wait");
  CHECK(calls[0].seconds == doctest::Approx(0.4));  // of the 0.7 s that 1 waited for 0
  CHECK(calls[1].seconds == doctest::Approx(0.3));
  CHECK(calls[1].awaited == 0);
  CHECK(calls[1].kind != calls[0].kind);
  const std::vector<EdgeWaits> edges = summary.edges();
  REQUIRE(edges.size() == 2);
  CHECK(edges[0].kind == "wait-at-init");
  CHECK(edges[1].kind == "wait-at-finalize");
  CHECK(edges[1].seconds == doctest::Approx(edges[0].seconds + 1));
  CHECK(edges[1].seconds_of_pair > 1);
}

TEST_CASE("a summary of a path adds up ranks, and leaves out what was not selected") {
  const Profile profile = test::waiting_sample_profile();
  PathSummary path = summed_up(profile.path[0]);
  CHECK(path.seconds == doctest::Approx(1.5));
  REQUIRE(path.shares.size() == 3);
  CHECK(path.shares[0].program);
  CHECK(path.shares[0].seconds == doctest::Approx(1.3));
  CHECK(path.shares[0].ranks.front().first == 3);
  REQUIRE(path.ranks.size() == 3);
  CHECK(path.ranks[0].second == doctest::Approx(0.4));
  Selection selection;
  selection.phases = {"solve, outer"};
  path = summed_up(profile.path[0], selection);
  CHECK(path.shares.size() == 2);
  CHECK(path.seconds == doctest::Approx(1.5));
}

}  // namespace
}  // namespace fathom::profile

// SPDX-License-Identifier: BSD-3-Clause
// The counts of all processes become one matrix, and the two witnesses are compared.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profile/assemble.h"
#include "profile/reader.h"
#include "profile/writer.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/profile/rows_builder.h"

namespace fathom::profile {
namespace {

using test::communicator_row;
using test::kAllreduceClass;
using test::kOneSidedClass;
using test::kPostedClass;
using test::kRowsJob;
using test::kUserClass;
using test::RowsBuilder;

template <typename... Builders>
Profile assembled(const Builders&... processes) {
  const std::string rows = (processes.bytes() + ...);
  auto profile = assemble(rows.data(), rows.size());
  REQUIRE(profile);
  return *profile;
}

using Pair = std::pair<std::int64_t, std::int64_t>;
using Matrix = std::map<Pair, std::pair<std::uint64_t, std::uint64_t>>;  // -> bytes, messages

Matrix matrix_of(const Profile& profile, const std::string& class_name,
                 const std::string& phase = "") {
  Matrix matrix;
  for (const Traffic& traffic : profile.traffic) {
    if (traffic.class_name != class_name || traffic.phase != phase) continue;
    for (std::size_t i = 0; i < traffic.source.size(); ++i) {
      auto& [bytes, messages] = matrix[{traffic.source[i], traffic.destination[i]}];
      bytes += traffic.bytes[i];
      messages += traffic.messages[i];
    }
  }
  return matrix;
}

bool noted(const Profile& profile, const std::string& words) {
  for (const std::string& note : profile.coverage.notes) {
    if (note.find(words) != std::string::npos) return true;
  }
  return false;
}

TEST_CASE("two processes that agree are exact") {
  RowsBuilder zero(0, 2), one(1, 2);
  zero.sent(1, 300, 3).received(1, 8, 1, kAllreduceClass);
  one.received(0, 300, 3).sent(0, 8, 1, kAllreduceClass);
  one.size(kUserClass, 100, 3);
  const Profile profile = assembled(zero, one);
  CHECK(profile.coverage.verdict == "exact");
  CHECK(profile.coverage.sent.bytes == 308);
  CHECK(profile.coverage.received.messages == 4);
  CHECK(profile.coverage.sent.witness == "pml");
  CHECK(profile.coverage.cut_short.empty());
  CHECK(matrix_of(profile, kPointToPoint) == Matrix{{{0, 1}, {300, 3}}});
  CHECK(matrix_of(profile, "MPI_Allreduce") == Matrix{{{1, 0}, {8, 1}}});
  CHECK(profile.traffic.back().hidden);
  REQUIRE(profile.message_sizes.size() == 1);
  CHECK(profile.message_sizes[0].size == std::vector<std::uint64_t>{100});
  CHECK(profile.communicators.at(0).world_ranks == std::vector<std::int64_t>{0, 1});
  CHECK(profile.application.seconds == doctest::Approx(1.5));
  CHECK(profile.application.started_unix_ns == 5'000'000'000);
  CHECK(profile.ranks.at(1).host == "n1");
  CHECK(profile.ranks.at(1).pid == 1001);
}

TEST_CASE("the order of processes does not change the traffic") {
  RowsBuilder zero(0, 2), one(1, 2);
  zero.sent(1, 300, 3);
  one.received(0, 300, 3);
  CHECK(matrix_of(assembled(one, zero), kPointToPoint) ==
        matrix_of(assembled(zero, one), kPointToPoint));
}

TEST_CASE("lanes of one process add up, and a lane may take back what another counted") {
  RowsBuilder zero(0, 2), one(1, 2);
  zero.sent(1, 300, 3).sent(1, 5, 1);
  one.received(0, 305, 5).received(0, 0, ~std::uint64_t{0});
  one.size(kUserClass, 0, 1).size(kUserClass, 0, ~std::uint64_t{0}).size(kUserClass, 5, 1);
  const Profile profile = assembled(zero, one);
  CHECK(profile.coverage.verdict == "exact");
  CHECK(matrix_of(profile, kPointToPoint) == Matrix{{{0, 1}, {305, 4}}});
  CHECK(profile.message_sizes.at(0).size == std::vector<std::uint64_t>{5});
}

TEST_CASE("a message waiting at its receiver is unreceived and not in the matrix") {
  RowsBuilder zero(0, 2), one(1, 2);
  zero.sent(1, 300, 3);
  one.received(0, 200, 2).unreceived(0, 100, 1);
  const Profile profile = assembled(zero, one);
  CHECK(profile.coverage.verdict == "exact");
  CHECK(profile.coverage.differences.empty());
  CHECK(profile.coverage.unreceived.bytes == 100);
  CHECK(profile.coverage.unreceived.messages == 1);
  REQUIRE(profile.coverage.unreceived_pairs.size() == 1);
  CHECK(profile.coverage.unreceived_pairs[0].destination == 1);
  CHECK(matrix_of(profile, kPointToPoint) == Matrix{{{0, 1}, {200, 2}}});
}

TEST_CASE("a receiver that counted less is a difference unless the message waits there") {
  RowsBuilder zero(0, 2), one(1, 2);
  zero.sent(1, 600, 3);
  one.received(0, 100, 1);
  const Profile without = assembled(zero, one);
  CHECK(without.coverage.verdict == "differs");
  CHECK(without.coverage.unreceived.messages == 0);
  REQUIRE(without.coverage.differences.size() == 1);
  CHECK(without.coverage.differences[0].received_messages == 1);

  one.unreceived(0, 200, 1);  // of the two that are missing, one
  const Profile with_one = assembled(zero, one);
  CHECK(with_one.coverage.verdict == "differs");
  CHECK(with_one.coverage.unreceived.messages == 1);
  CHECK(with_one.coverage.differences.size() == 1);
}

TEST_CASE("a disagreement that no waiting message explains is a difference") {
  const auto verdict = [](std::uint64_t bytes, std::uint64_t messages, std::uint64_t waiting_bytes,
                          std::uint64_t waiting_messages) {
    RowsBuilder zero(0, 2), one(1, 2);
    zero.sent(1, 300, 3);
    one.received(0, bytes, messages).unreceived(0, waiting_bytes, waiting_messages);
    const Profile profile = assembled(zero, one);
    CHECK(profile.coverage.differences.size() == (profile.coverage.verdict == "differs" ? 1 : 0));
    return profile.coverage.verdict;
  };
  CHECK(verdict(300, 3, 0, 0) == "exact");
  CHECK(verdict(300, 3, 8, 1) == "exact");      // sent while the sender did not count
  CHECK(verdict(300, 2, 0, 1) == "exact");      // an empty one waits
  CHECK(verdict(300, 2, 0, 0) == "differs");    // an empty one is missing
  CHECK(verdict(200, 2, 99, 1) == "differs");   // the one that waits is shorter
  CHECK(verdict(200, 2, 100, 2) == "differs");  // more than were sent
  CHECK(verdict(299, 3, 0, 0) == "differs");    // as many messages, fewer bytes
  CHECK(verdict(301, 2, 0, 0) == "differs");    // fewer messages, more bytes
  CHECK(verdict(300, 4, 0, 0) == "differs");    // more than were sent
}

TEST_CASE("with one witness the matrix is that witness's") {
  RowsBuilder zero(0, 2), one(1, 2);
  zero.witnesses("pml", "").sent(1, 300, 3);
  one.witnesses("pml", "");
  const Profile senders = assembled(zero, one);
  CHECK(senders.coverage.verdict == "one-witness");
  CHECK(senders.coverage.unreceived.messages == 0);
  CHECK(matrix_of(senders, kPointToPoint) == Matrix{{{0, 1}, {300, 3}}});

  RowsBuilder source(0, 2), destination(1, 2);
  source.witnesses("", "peruse");
  destination.witnesses("", "peruse").received(0, 40, 4);
  const Profile receivers = assembled(source, destination);
  CHECK(receivers.coverage.verdict == "one-witness");
  CHECK(receivers.coverage.differences.empty());
  CHECK(matrix_of(receivers, kPointToPoint) == Matrix{{{0, 1}, {40, 4}}});
}

TEST_CASE("no witness, lost messages, cut rows or a missing process make the verdict incomplete") {
  RowsBuilder zero(0, 1);
  CHECK(assembled(zero).coverage.verdict == "exact");
  CHECK(assembled(RowsBuilder(0, 1).witnesses("", "")).coverage.verdict == "incomplete");
  zero.header.lost_messages = 2;
  CHECK(assembled(zero).coverage.verdict == "incomplete");
  CHECK(assembled(zero).coverage.lost_messages == 2);
  CHECK(assembled(RowsBuilder(0, 2)).coverage.verdict == "incomplete");

  std::string rows = RowsBuilder(0, 1).sent(0, 1, 1).bytes();
  rows.pop_back();
  const auto cut = assemble(rows.data(), rows.size());
  REQUIRE(cut);
  CHECK(cut->coverage.verdict == "incomplete");
  CHECK(noted(*cut, "cut off"));
}

TEST_CASE("peers stand in for a missing rank in both directions") {
  RowsBuilder zero(0, 3), one(1, 3);
  zero.sent(2, 10, 1).received(2, 20, 2).sent(1, 5, 1);
  one.received(0, 5, 1).received(2, 40, 4);
  const Profile profile = assembled(zero, one);
  CHECK(profile.coverage.verdict == "incomplete");
  CHECK(matrix_of(profile, kPointToPoint) ==
        Matrix{{{0, 1}, {5, 1}}, {{0, 2}, {10, 1}}, {{2, 0}, {20, 2}}, {{2, 1}, {40, 4}}});
  CHECK(profile.coverage.differences.empty());
  CHECK(profile.coverage.unreceived.messages == 0);
  CHECK_FALSE(profile.ranks.at(2).reported);
  CHECK(profile.coverage.cut_short.find("1 of 3 processes left no counts (rank 2)") !=
        std::string::npos);
  CHECK(profile.communicators.at(0).world_ranks == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE("a communicator with a silent member lists no members rather than wrong ones") {
  RowsBuilder zero(0, 2);
  zero.communicators.push_back(communicator_row(2, 2, 0, "MPI_Comm_dup"));
  CHECK(assembled(zero).communicators.at(1).world_ranks.empty());
}

TEST_CASE("processes of other worlds are numbered once, from world_size") {
  constexpr std::uint32_t kSpawned = 88;
  RowsBuilder zero(0, 2), one(1, 2);
  for (RowsBuilder* process : {&zero, &one}) {
    process->communicators.push_back(
        communicator_row(2, 2, process->header.rank, "MPI_Comm_spawn"));
    process->communicators[1].flags = kIntercommunicator;
    process->communicators[1].remote_size = 2;
  }
  zero.foreign_members = {{1, 1, 0, kSpawned, 0, 0}, {1, 1, 1, kSpawned, 1, 0}};
  zero.cell(Direction::kSent, kUserClass, 0, 1, 1, 10, 1, kSpawned);
  one.cell(Direction::kReceived, kUserClass, 0, 1, 0, 20, 2, kSpawned);
  const Profile profile = assembled(zero, one);
  CHECK(profile.coverage.verdict == "exact");
  CHECK(profile.world_size == 2);
  REQUIRE(profile.ranks.size() == 4);
  CHECK(profile.ranks[2].rank == 2);
  CHECK(profile.ranks[2].rank_in_world == 0);
  CHECK(profile.ranks[3].rank_in_world == 1);
  CHECK(profile.ranks[3].world == profile.ranks[2].world);
  CHECK_FALSE(profile.ranks[3].world.empty());
  CHECK(profile.communicators.at(1).world_ranks == std::vector<std::int64_t>{0, 1});
  CHECK(profile.communicators.at(1).remote_world_ranks == std::vector<std::int64_t>{2, 3});
  CHECK(matrix_of(profile, kPointToPoint) == Matrix{{{0, 3}, {10, 1}}, {{2, 1}, {20, 2}}});
}

TEST_CASE("the two sides of an intercommunicator are its local and remote groups") {
  RowsBuilder zero(0, 3), one(1, 3), two(2, 3);
  const auto join = [](RowsBuilder& process, std::uint64_t side, std::uint32_t size,
                       std::uint32_t remote_size, std::uint32_t my_rank) {
    process.communicators.push_back(communicator_row(5, size, my_rank, "MPI_Intercomm_create"));
    process.communicators[1].flags = kIntercommunicator;
    process.communicators[1].group_key = side;
    process.communicators[1].remote_size = remote_size;
  };
  join(zero, 100, 1, 2, 0);
  join(one, 200, 2, 1, 1);
  join(two, 200, 2, 1, 0);
  const Communicator communicator = assembled(zero, one, two).communicators.at(1);
  CHECK(communicator.world_ranks == std::vector<std::int64_t>{0});
  CHECK(communicator.remote_world_ranks == std::vector<std::int64_t>{2, 1});
}

// A duplicate of all of two processes, known by `key`; `bytes` from 0 to 1 and ten times as many
// back.
struct Duplicate {
  std::uint64_t key, ordinal_key_of_zero, ordinal_key_of_one;
  std::uint64_t bytes;
  std::uint32_t instances = 1;
};

Profile assembled(const std::vector<Duplicate>& met_by_zero,
                  const std::vector<std::size_t>& met_by_one) {
  RowsBuilder zero(0, 2), one(1, 2);
  const auto meet = [](RowsBuilder& process, const Duplicate& met) {
    const bool is_zero = process.header.rank == 0;
    CommunicatorRow row = communicator_row(met.key, 2, process.header.rank, "MPI_Comm_dup");
    row.group_key = 10;  // all of the same two
    row.parent_key = 1;
    row.instances = met.instances;
    row.ordinal_key = is_zero ? met.ordinal_key_of_zero : met.ordinal_key_of_one;
    process.communicators.push_back(row);
    const auto place = static_cast<std::uint32_t>(process.communicators.size() - 1);
    const std::uint32_t peer = is_zero ? 1 : 0;
    const std::uint64_t there = met.bytes, back = 10 * met.bytes;
    process.cell(Direction::kSent, kUserClass, 0, place, peer, is_zero ? there : back, 1);
    process.cell(Direction::kReceived, kUserClass, 0, place, peer, is_zero ? back : there, 1);
    process.cell(Direction::kInvisible, kAllreduceClass, 0, place, 1, 0, 1);
  };
  for (const Duplicate& met : met_by_zero) meet(zero, met);
  for (const std::size_t number : met_by_one) meet(one, met_by_zero[number]);
  return assembled(zero, one);
}

Matrix matrix_on(const Profile& profile, std::int64_t communicator) {
  Profile part = profile;
  std::erase_if(part.traffic, [&](const Traffic& t) { return t.communicator != communicator; });
  return matrix_of(part, kPointToPoint);
}

TEST_CASE("kinds that all members number the same way are one communicator") {
  const Profile profile =
      assembled({{2, 20, 20, 5, 3}, {3, 30, 30, 7}, {4, 20, 20, 100, 2}}, {0, 1, 2});
  REQUIRE(profile.communicators.size() == 3);
  CHECK(profile.communicators[1].instances == 5);
  CHECK(profile.communicators[1].parent == 0);
  CHECK(profile.communicators[1].world_ranks == std::vector<std::int64_t>{0, 1});
  CHECK(profile.communicators[2].instances == 1);
  CHECK(profile.traffic.size() == 2);
  CHECK(matrix_on(profile, 1) == Matrix{{{0, 1}, {105, 2}}, {{1, 0}, {1050, 2}}});
  CHECK(matrix_on(profile, 2) == Matrix{{{0, 1}, {7, 1}}, {{1, 0}, {70, 1}}});
  REQUIRE(profile.coverage.not_visible.size() == 2);
  CHECK(profile.coverage.not_visible[0].calls == 4);
  CHECK(profile.coverage.not_visible[1].calls == 2);
}

TEST_CASE("kinds that two members number differently are separate communicators") {
  // Two threads made 2 and 3 at once; 4 came later, and all agree that it took the place of the
  // first.
  const Profile profile = assembled({{2, 20, 30, 5}, {3, 30, 20, 7}, {4, 20, 20, 100}}, {1, 0, 2});
  CHECK(profile.coverage.verdict == "exact");
  REQUIRE(profile.communicators.size() == 4);
  CHECK(matrix_on(profile, 1) == Matrix{{{0, 1}, {5, 1}}, {{1, 0}, {50, 1}}});
  CHECK(matrix_on(profile, 2) == Matrix{{{0, 1}, {7, 1}}, {{1, 0}, {70, 1}}});
  CHECK(matrix_on(profile, 3) == Matrix{{{0, 1}, {100, 1}}, {{1, 0}, {1000, 1}}});
}

TEST_CASE("kinds without an ordinal key, as in older traces, are separate communicators") {
  const Profile profile = assembled({{2, 0, 0, 5}, {3, 0, 0, 7}}, {0, 1});
  REQUIRE(profile.communicators.size() == 3);
  CHECK(matrix_on(profile, 1) == Matrix{{{0, 1}, {5, 1}}, {{1, 0}, {50, 1}}});
}

TEST_CASE("phases are separated by name, whatever number a process gave them") {
  RowsBuilder zero(0, 2), one(1, 2);
  zero.text += "phase 1 setup\nphase 2 solve\n";
  one.text += "phase 1 solve\nphase 2 setup\n";
  zero.sent(1, 1, 1).sent(1, 20, 2, kUserClass, 2).sent(1, 300, 3, kUserClass, 1);
  one.received(0, 1, 1).received(0, 20, 2, kUserClass, 1).received(0, 300, 3, kUserClass, 2);
  const Profile profile = assembled(zero, one);
  CHECK(profile.coverage.verdict == "exact");
  CHECK(matrix_of(profile, kPointToPoint) == Matrix{{{0, 1}, {1, 1}}});
  CHECK(matrix_of(profile, kPointToPoint, "solve") == Matrix{{{0, 1}, {20, 2}}});
  CHECK(matrix_of(profile, kPointToPoint, "setup") == Matrix{{{0, 1}, {300, 3}}});
}

TEST_CASE("a message sent in one phase and received in the next is no difference") {
  RowsBuilder zero(0, 2), one(1, 2);
  zero.text += "phase 1 a\n";
  one.text += "phase 1 b\n";
  zero.sent(1, 9, 1, kUserClass, 1);
  one.received(0, 9, 1, kUserClass, 1);
  const Profile profile = assembled(zero, one);
  CHECK(profile.coverage.verdict == "exact");
  CHECK(matrix_of(profile, kPointToPoint, "b") == Matrix{{{0, 1}, {9, 1}}});
}

TEST_CASE("one-sided messages are counted by both witnesses, apart from posted operations") {
  RowsBuilder zero(0, 2), one(1, 2);
  zero.sent(1, 1'000'048, 2, kOneSidedClass).size(kPostedClass, 9, 1);
  one.received(0, 1'000'048, 2, kOneSidedClass).size(kOneSidedClass, 500'024, 2);
  const Profile messages = assembled(zero, one);
  CHECK(messages.coverage.verdict == "exact");
  CHECK(messages.coverage.received.bytes == 1'000'048);
  CHECK(matrix_of(messages, kOneSided) == Matrix{{{0, 1}, {1'000'048, 2}}});
  CHECK(messages.traffic.at(0).hidden);

  zero.sent(1, 9, 1, kPostedClass);
  const Profile both = assembled(zero, one);
  CHECK(both.coverage.verdict == "exact");
  CHECK(both.coverage.received.bytes == 1'000'048);
  REQUIRE(both.traffic.size() == 2);
  CHECK(both.traffic[0].hidden != both.traffic[1].hidden);
  REQUIRE(both.message_sizes.size() == 2);
  CHECK(both.message_sizes[0].hidden != both.message_sizes[1].hidden);

  zero.sent(1, 1, 0, kOneSidedClass);
  CHECK(assembled(zero, one).coverage.verdict == "differs");
}

TEST_CASE("posted puts and gets of both ends add up outside the two witnesses") {
  RowsBuilder zero(0, 2), one(1, 2);
  zero.sent(1, 100, 1, kPostedClass).received(1, 7, 1, kPostedClass);  // put to 1, get from 1
  one.sent(0, 50, 2, kPostedClass).received(0, 30, 3, kPostedClass);   // put to 0, get from 0
  const Profile profile = assembled(zero, one);
  CHECK(profile.coverage.verdict == "exact");
  CHECK(matrix_of(profile, kOneSided) == Matrix{{{0, 1}, {130, 4}}, {{1, 0}, {57, 3}}});
  CHECK(profile.coverage.sent.messages == 0);
  CHECK(profile.coverage.received.messages == 0);
}

TEST_CASE("a module that bypasses the PML is named with its calls over all ranks") {
  RowsBuilder zero(0, 2), one(1, 2);
  zero.text += "module 3 coll/sm\n";
  one.text += "module 1 coll/sm\n";
  zero.cell(Direction::kInvisible, kAllreduceClass, 0, 0, 3, 0, 4);
  one.cell(Direction::kInvisible, kAllreduceClass, 0, 0, 1, 0, 4);
  const Profile profile = assembled(zero, one);
  REQUIRE(profile.coverage.not_visible.size() == 1);
  const NotVisible& gap = profile.coverage.not_visible[0];
  CHECK(gap.function == "MPI_Allreduce");
  CHECK(gap.module == "coll/sm");
  CHECK(gap.calls == 8);
  CHECK(gap.communicator == 0);
  CHECK(profile.traffic.empty());
}

TEST_CASE("the reason for a cut run is its cause, not what the launcher did to the others") {
  const auto why = [](RowsBuilder zero, RowsBuilder one) {
    return assembled(zero, one).coverage.cut_short;
  };
  RowsBuilder fine(0, 2);
  CHECK(why(fine, RowsBuilder(1, 2)).empty());
  CHECK(why(RowsBuilder(0, 2).ended(EndReason::kSignal, 15),
            RowsBuilder(1, 2).ended(EndReason::kAbort, 7)) ==
        "rank 1 called MPI_Abort with error code 7");
  CHECK(why(RowsBuilder(0, 2).ended(EndReason::kSignal, 15),
            RowsBuilder(1, 2).ended(EndReason::kSignal, 11)) ==
        "rank 1 was ended by signal 11 (Segmentation fault)");
  CHECK(why(RowsBuilder(0, 2).ended(EndReason::kSignal, 15),
            RowsBuilder(1, 2).ended(EndReason::kExit)) == "rank 1 left without MPI_Finalize");
  CHECK(why(RowsBuilder(0, 2).ended(EndReason::kSignal, 15),
            RowsBuilder(1, 2).ended(EndReason::kSignal, 15)) ==
        "rank 0 was ended by signal 15 (Terminated)");
  CHECK(why(RowsBuilder(0, 2).ended(EndReason::kUnconnected), RowsBuilder(1, 2)).empty());
  CHECK(assembled(RowsBuilder(0, 2).ended(EndReason::kAbort, 1)).coverage.cut_short ==
        "rank 0 called MPI_Abort with error code 1; 1 of 2 processes left no counts (rank 1): "
        "killed with "
        "SIGKILL, ended with _exit, or run without Fathom");
}

TEST_CASE("only the first eight of many missing processes are named") {
  const std::string why = assembled(RowsBuilder(0, 100'000)).coverage.cut_short;
  CHECK(why.find("99999 of 100000") != std::string::npos);
  CHECK(why.find("(rank 1, 2, 3, 4, 5, 6, 7, 8, …)") != std::string::npos);
}

TEST_CASE("rows that came twice or belong to another world are left out with a note") {
  RowsBuilder zero(0, 1), again(0, 1), outside(5, 1), other(0, 1);
  zero.sent(0, 1, 1).received(0, 1, 1);
  again.sent(0, 1, 1);
  other.header.job = 999;
  const Profile profile = assembled(zero, again, outside, other);
  CHECK(profile.coverage.sent.messages == 1);
  CHECK(profile.ranks.size() == 1);
  CHECK(noted(profile, "left out"));
}

TEST_CASE("a pause and step-downs are reported once") {
  RowsBuilder zero(0, 2), one(1, 2);
  for (RowsBuilder* process : {&zero, &one}) {
    process->text += "paused 1\nstep-down peruse the library has none\n";
  }
  const Profile profile = assembled(zero, one);
  CHECK(noted(profile, "MPI_Pcontrol(0)"));
  REQUIRE(profile.coverage.steps_down.size() == 1);
  CHECK(profile.coverage.steps_down[0].source == "peruse");
  CHECK(profile.coverage.steps_down[0].reason == "the library has none");
}

TEST_CASE("messages that nobody watched make the verdict incomplete, and are noted once") {
  RowsBuilder zero(0, 2), one(1, 2);
  for (RowsBuilder* process : {&zero, &one}) process->text += "unwatched a session was open\n";
  const Profile profile = assembled(zero, one);
  CHECK(profile.coverage.verdict == "incomplete");
  CHECK(profile.coverage.notes == std::vector<std::string>{"a session was open"});
}

TEST_CASE("what the trace lost is one entry per reason over all ranks") {
  RowsBuilder zero(0, 3), one(1, 3), two(2, 3);
  zero.text += "trace-lost memory 5\ntrace-lost unwritten 70 No space left on device\n";
  one.text += "trace-lost unwritten 30 No space left on device\n";
  two.text += "trace-lost no-trace 0 Permission denied\ntrace-lost damaged\n";
  const std::vector<profile::TraceLoss> lost = assembled(zero, one, two).coverage.trace_lost;
  REQUIRE(lost.size() == 3);
  CHECK(profile::sentence(lost[0], "the trace") ==
        "the trace is incomplete: 5 records of 1 rank did not fit into memory; raise "
        "FATHOM_TRACE_MEMORY, or set FATHOM_TRACE_LEVEL=calls");
  CHECK(
      profile::sentence(lost[1], "the trace in /r/trace")
          .find("the trace in /r/trace is incomplete: 100 records of 2 ranks could not be written "
                "(No space left on "
                "device); free disk space") == 0);
  CHECK(profile::sentence(lost[2], "the trace")
            .find("1 rank could not make its files (Permission denied)") != std::string::npos);
  CHECK_FALSE(is_about_files(lost[0]));
  CHECK(is_about_files(lost[1]));
}

TEST_CASE("performance variables are gathered by name with one list of values per rank") {
  RowsBuilder zero(0, 2), one(1, 2);
  zero.text += "pvar posted\tqueue length\tcommunicator 0\t1 2.5\n";
  one.text += "pvar posted\tqueue length\tcommunicator 0\t3\n";
  const Profile profile = assembled(zero, one);
  REQUIRE(profile.performance_variables.size() == 1);
  CHECK(profile.performance_variables[0].rank == std::vector<std::int64_t>{0, 1});
  CHECK(profile.performance_variables[0].values == std::vector<std::vector<double>>{{1, 2.5}, {3}});
}

TEST_CASE("a world larger than can be counted is rejected") {
  const std::string rows = RowsBuilder(0, ~0u).bytes();
  CHECK_FALSE(assemble(rows.data(), rows.size()));
}

TEST_CASE("input without a whole header is an error, not a profile") {
  const std::string rows = RowsBuilder(0, 1).bytes();
  for (std::size_t size = 0; size < sizeof(RowsHeader); ++size)
    CHECK_FALSE(assemble(rows.data(), size));
}

TEST_CASE("rows cut at any byte never count more than was sent, and give a valid profile") {
  const test::Scratch folder;
  const std::string rows = test::sample_rows();
  const Profile whole = *assemble(rows.data(), rows.size());
  CHECK(whole.coverage.verdict == "exact");
  for (std::size_t size = sizeof(RowsHeader); size < rows.size(); ++size) {
    const std::vector<char> prefix(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(size));
    const auto part = assemble(prefix.data(), prefix.size());
    REQUIRE(part);
    REQUIRE(part->coverage.sent.bytes <= whole.coverage.sent.bytes);
    REQUIRE(part->coverage.received.messages <= whole.coverage.received.messages);
    if (size % 16 != 0) continue;
    REQUIRE(write_profile(*part, folder / "profile.json"));
    const auto read = load_profile(folder / "profile.json");
    REQUIRE_MESSAGE(read, read.error().message);
  }
}

TEST_CASE("a run that was cut short is assembled from what its processes left") {
  const test::Scratch run;
  REQUIRE(assemble_parts(run.path()));
  CHECK(*assemble_parts(run.path()) == Assembled::kNothing);
  std::filesystem::create_directory(run / "partial");
  test::write_file(run / "partial/77.0.rows",
                   RowsBuilder(0, 2).sent(1, 9, 1).ended(EndReason::kAbort, 3).bytes());
  test::write_file(run / "partial/77.1.rows",
                   RowsBuilder(1, 2).received(0, 9, 1).bytes().substr(0, 70));
  test::write_file(run / "partial/notes.txt", "not rows");
  REQUIRE(*assemble_parts(run.path()) == Assembled::kCutShort);
  const auto profile = load_profile(run / "profile.json");
  REQUIRE_MESSAGE(profile, profile.error().message);
  CHECK(profile->coverage.verdict == "incomplete");
  CHECK(profile->coverage.cut_short == "rank 0 called MPI_Abort with error code 3");
  CHECK(profile->coverage.sent.messages == 1);
}

TEST_CASE("a run whose processes all came to their end is whole, although each left its rows") {
  const test::Scratch run;
  std::filesystem::create_directory(run / "partial");
  test::write_file(run / "partial/77.0.rows", RowsBuilder(0, 2).sent(1, 9, 1).bytes());
  test::write_file(run / "partial/77.1.rows", RowsBuilder(1, 2).received(0, 9, 1).bytes());
  REQUIRE(*assemble_parts(run.path()) == Assembled::kWhole);
  const auto profile = load_profile(run / "profile.json");
  REQUIRE_MESSAGE(profile, profile.error().message);
  CHECK(profile->coverage.cut_short.empty());
  CHECK(profile->coverage.differences.empty());
}

}  // namespace
}  // namespace fathom::profile

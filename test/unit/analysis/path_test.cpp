// SPDX-License-Identifier: BSD-3-Clause
// The critical path and the costs along paths, on jobs worked out by hand.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "analysis/path/critical_path.h"
#include "analysis/path/path_metrics.h"
#include "analysis/path/path_slack.h"
#include "analysis/path/transfer_model.h"
#include "test/unit/engine/joined_job.h"

namespace fathom::analysis {
namespace {

using test::Joined;
using test::MadeJob;

void init(MadeJob& made, int ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    made.enter(rank, 0, "MPI_Init");
    made.leave(rank, 10, "MPI_Init");
  }
}

// Time on the path by process and function; kNobody is the program.
std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> on_path(const Joined& job,
                                                                       const CriticalPath& path) {
  std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> sums;
  for (const PathRow& row : path.rows) {
    sums[{row.process,
          row.function == kNobody ? "" : job->definitions().functions[row.function].name}] +=
        row.ns;
  }
  return sums;
}

// Rank 0 works until 600 and sends; rank 1 waits for that, works until 900, sends back; rank 0
// waits for it.
MadeJob there_and_back() {
  MadeJob made(2);
  init(made, 2);
  made.send(0, 600, 610, 1, 1);
  made.receive(1, 100, 620, 0, 1);
  made.send(1, 900, 910, 0, 2);
  made.receive(0, 700, 930, 1, 2);
  return made;
}

template <typename Result>
Result run_pass(Transport& transport, PassTo<Result> one) {
  run_passes(transport, {one.pass.get()});
  return one.result();
}

TEST_CASE("the path moves to the late sender, and back where the receiver had work") {
  MadeJob made = there_and_back();
  const Joined job(made);
  const CriticalPath path = run_pass(job->transport(), critical_path_pass(*job));
  CHECK(path.changes == 2);
  CHECK(path.begin_ns == 0);
  CHECK(path.end_ns == 930);
  CHECK(path.stretches.empty());
  const auto sums = on_path(job, path);
  std::uint64_t all = 0;
  for (const auto& [where, ns] : sums) all += ns;
  CHECK(all == 930);
  const std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> expected = {
      {{0, "MPI_Init"}, 10},
      {{0, ""}, 590},  // until it sends
      {{1, "MPI_Recv"}, 20},
      {{1, ""}, 280},  // 600 to 620 the message is under way
      {{0, "MPI_Recv"}, 30}};
  CHECK(sums == expected);
}

TEST_CASE(
    "the stretches of the path are contiguous, and a limit on their number keeps the last ones") {
  MadeJob made = there_and_back();
  const Joined job(made);
  const CriticalPath path = run_pass(job->transport(), critical_path_pass(*job, 100));
  using Stretch = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::string>;
  std::vector<Stretch> stretches;
  for (const PathStretch& part : path.stretches) {
    stretches.emplace_back(
        part.begin_ns, part.end_ns, part.process,
        part.function == kNobody ? "" : job->definitions().functions[part.function].name);
  }
  const std::vector<Stretch> expected = {{0, 10, 0, "MPI_Init"},
                                         {10, 600, 0, ""},
                                         {600, 620, 1, "MPI_Recv"},
                                         {620, 900, 1, ""},
                                         {900, 930, 0, "MPI_Recv"}};
  CHECK(stretches == expected);
  const auto last = run_pass(job->transport(), critical_path_pass(*job, 2)).stretches;
  REQUIRE(last.size() == 2);
  CHECK(last[0].begin_ns == 620);
  CHECK(last[1].end_ns == 930);
}

TEST_CASE(
    "the program's work is attributed to the call that follows it and names the call before") {
  MadeJob made(2);
  init(made, 2);
  // Rank 0 computes from 110 to 500, between its reduction and its receive, and then comes late to
  // the next reduction.
  for (int rank = 0; rank < 2; ++rank) made.collective(rank, 100, 110, "MPI_Allreduce");
  made.irecv(0, 500, 7, 1);
  made.send(1, 120, 125, 0);
  made.wait_receive(0, 503, 506, 7, 1);
  made.collective(0, 507, 520, "MPI_Allreduce");
  made.collective(1, 130, 520, "MPI_Allreduce");
  const Joined job(made);
  const auto& functions = job->definitions().functions;
  const CriticalPath path = run_pass(job->transport(), critical_path_pass(*job));
  const auto longest =
      std::max_element(path.rows.begin(), path.rows.end(),
                       [](const PathRow& a, const PathRow& b) { return a.ns < b.ns; });
  REQUIRE(longest != path.rows.end());
  CHECK(longest->ns == 390);
  CHECK(longest->process == 0);
  CHECK(longest->function == kNobody);
  REQUIRE(longest->leads_to != kNobody);
  CHECK(functions[longest->leads_to].name == "MPI_Irecv");
  CHECK(longest->site == 0x1000 + longest->leads_to);
  CHECK(functions[longest->follows].name == "MPI_Allreduce");
  CHECK(longest->follows_site == 0x1000 + longest->follows);
}

std::uint64_t value(const Costs& costs, PathMetric metric) {
  return costs[static_cast<std::size_t>(metric)];
}

// By process, in the order of its calls.
std::vector<std::vector<std::uint64_t>> slacks(const Joined& job) {
  std::vector<std::vector<std::uint64_t>> all(job->mapping().size());
  run_pass(job->transport(),
           path_slack_pass(*job, [&](std::uint32_t process, std::uint32_t, std::uint64_t ns) {
             all[process].insert(all[process].begin(), ns);
           }));
  return all;
}
using Slacks = std::vector<std::vector<std::uint64_t>>;

TEST_CASE("slack is zero on the critical path, the wait before it, and what is left at the end") {
  MadeJob made = there_and_back();
  const Joined job(made);
  CHECK(slacks(job) == Slacks{{0, 0, 200}, {0, 500, 0}});
  const auto rows = run_pass(job->transport(), path_slack_pass(*job));
  CHECK(rows.size() == 6);
  CHECK(rows.back().count == 1);
}

TEST_CASE("a message that lay waiting may come later by the time it lay") {
  MadeJob made(2);
  init(made, 2);
  made.isend(0, 100, 7, 1, 1);  // taken at 500
  made.enter(0, 800, "MPI_Finalize");
  made.leave(0, 1000, "MPI_Finalize");
  made.receive(1, 500, 510, 0, 1);
  made.enter(1, 900, "MPI_Finalize");
  made.leave(1, 1000, "MPI_Finalize");
  const Joined job(made);
  // Rank 0 comes to the end 100 early.
  CHECK(slacks(job) == Slacks{{0, 100, 100}, {0, 0, 0}});
}

TEST_CASE(
    "the last member of a collective has no slack, and the others as much as they were early") {
  MadeJob made(3);
  init(made, 3);
  for (int rank = 0; rank < 3; ++rank) {
    made.collective(rank, 100 + 100 * static_cast<std::uint64_t>(rank), 310, "MPI_Barrier");
    made.collective(rank, 400, 500, "MPI_Bcast", 1);
    made.enter(rank, 600, "MPI_Finalize");
    made.leave(rank, 700, "MPI_Finalize");
  }
  const Joined job(made);
  CHECK(slacks(job) == Slacks{{0, 200, 0, 0}, {0, 100, 0, 0}, {0, 0, 0, 0}});
}

TEST_CASE("a sender that waits limits the slack of the call that posts the receive") {
  MadeJob made(2);
  init(made, 2);
  // Rank 0 waits from 100 until rank 1 posts its receive at 600, and is the last at the end.
  made.send(0, 100, 620, 1, 1, 1 << 20);
  made.receive(1, 600, 630, 0, 1, 1 << 20);
  // An eager message: taken at 700, sent and done at 640.
  made.send(0, 640, 645, 1, 2);
  made.receive(1, 700, 710, 0, 2);
  made.enter(0, 1000, "MPI_Finalize");
  made.leave(0, 1100, "MPI_Finalize");
  made.enter(1, 800, "MPI_Finalize");
  made.leave(1, 1100, "MPI_Finalize");
  const Joined job(made);
  // Rank 0's first send could begin 500 later. Rank 1 is 200 early at the end, but not where rank 0
  // waits for it.
  CHECK(slacks(job) == Slacks{{0, 500, 0, 0}, {0, 0, 200, 200}});
}

TEST_CASE("of several receives posted by others, the one that was waited for limits the slack") {
  MadeJob made(3);
  init(made, 3);
  // Rank 0's MPI_Waitall lasts until rank 2 posts at 900; rank 1 had posted at 500.
  made.isend(0, 100, 7, 1, 1, 1 << 20);
  made.isend(0, 110, 8, 2, 1, 1 << 20);
  made.enter(0, 120, "MPI_Waitall");
  made.complete(0, 910, 7);
  made.complete(0, 910, 8);
  made.leave(0, 920, "MPI_Waitall");
  for (int rank = 1; rank < 3; ++rank) {
    const std::uint64_t post = rank == 1 ? 500 : 900;
    made.irecv(rank, post, 9, 0, 1, 1 << 20);
    made.enter(rank, post + 10, "MPI_Wait").request = 9;
    made.arrive(rank, post + 20, 9, 0, 1, 1 << 20);
    made.complete(rank, post + 21, 9);
    made.leave(rank, post + 22, "MPI_Wait");
  }
  for (int rank = 0; rank < 3; ++rank) {
    made.enter(rank, rank == 0 ? 1000 : 950, "MPI_Finalize");
    made.leave(rank, 1100, "MPI_Finalize");
  }
  const Joined job(made);
  // Whether 0's message waits for rank 1 too cannot be seen: its call waited for rank 2.
  // 0's first message could be 460 later: rank 1 takes it at 510, and has 50 left.
  CHECK(slacks(job) == Slacks{{0, 460, 780, 780, 0}, {0, 50, 50, 50}, {0, 0, 50, 50}});
}

TEST_CASE(
    "a synchronous send limits the slack of a receive posted earlier, by the time between them") {
  MadeJob made(2);
  init(made, 2);
  made.irecv(1, 100, 7, 0, 1);
  made.send(0, 400, 420, 1, 1, 8, 0, "MPI_Ssend");
  made.enter(1, 500, "MPI_Wait").request = 7;
  made.arrive(1, 501, 7, 0, 1);
  made.complete(1, 502, 7);
  made.leave(1, 503, "MPI_Wait");
  for (int rank = 0; rank < 2; ++rank) {
    made.enter(rank, rank == 0 ? 1000 : 600, "MPI_Finalize");
    made.leave(rank, 1100, "MPI_Finalize");
  }
  const Joined job(made);
  // Posted 300 before it is needed; rank 1 is 400 early at the end.
  CHECK(slacks(job) == Slacks{{0, 0, 0}, {0, 300, 400, 400}});
}

TEST_CASE("alpha and beta come only from messages whose receiver was ready") {
  MadeJob made(2);
  init(made, 2);
  std::uint64_t now_ns = 1000;
  for (const std::uint64_t bytes : {0u, 1000u, 4000u, 64000u}) {
    for (int i = 0; i < 3; ++i, now_ns += 1'000'000) {
      made.receive(1, now_ns, now_ns + 101 + 500 + bytes / 2, 0, 1,
                   bytes);  // arrives 500 + bytes / 2 after the send
      made.send(0, now_ns + 100, now_ns + 200, 1, 1, bytes);
    }
    made.send(0, now_ns, now_ns + 10, 1, 2, bytes);
    made.receive(1, now_ns + 500'000, now_ns + 700'000, 0, 2, bytes);  // came later
    now_ns += 1'000'000;
  }
  const Joined job(made);
  const TransferModel model = fit_transfers(*job);
  CHECK(model.messages == 12);
  CHECK(model.alpha_ns == doctest::Approx(500).epsilon(0.001));
  CHECK(model.beta_ns_per_byte == doctest::Approx(0.5).epsilon(0.001));
  const PathMetrics metrics = run_pass(job->transport(), path_metrics_pass(*job));
  const double bytes = 4 * 69000;  // as received; the path has them once
  CHECK(shown(PathMetric::kEstimatedTime, value(metrics.path, PathMetric::kEstimatedTime)) ==
        doctest::Approx((16 * 500 + 0.5 * bytes) * 1e-9).epsilon(0.01));
}

TEST_CASE("the path moves to the rank that entered a barrier last") {
  MadeJob made(3);
  init(made, 3);
  made.collective(0, 100, 510, "MPI_Barrier");
  made.collective(1, 500, 511, "MPI_Barrier");
  made.collective(2, 300, 512, "MPI_Barrier");
  made.enter(2, 800, "MPI_Finalize");
  made.leave(2, 900, "MPI_Finalize");
  const Joined job(made);
  const CriticalPath path = run_pass(job->transport(), critical_path_pass(*job));
  const auto sums = on_path(job, path);
  CHECK(path.changes == 1);
  CHECK(sums.at({1, ""}) == 490);
  CHECK(sums.at({2, ""}) == 288);
  CHECK(sums.at({2, "MPI_Barrier"}) == 12);
  CHECK(sums.at({2, "MPI_Finalize"}) == 100);
}

TEST_CASE("persistent collectives have a time on each path, and no costs that nobody recorded") {
  MadeJob made(2);
  init(made, 2);
  for (int rank = 0; rank < 2; ++rank) {
    made.make_persistent(rank, 20, "MPI_Allreduce_init", 0x10);
    made.start(rank, rank == 0 ? 100 : 600, 0x10);
    made.wait(rank, rank == 0 ? 110 : 610, 630, 0x10);
  }
  const Joined job(made);
  const PathMetrics metrics = run_pass(job->transport(), path_metrics_pass(*job));
  CHECK(metrics.released == 0);
  CHECK(value(metrics.sum, PathMetric::kMessages) == 0);
  CHECK(value(metrics.sum, PathMetric::kSynchronisation) == 0);
  CHECK(metrics.sum_idle_ns == 490);
}

TEST_CASE("a wait for a lock is no computation") {
  MadeJob made(2);
  init(made, 2);
  const auto in_lock = [&](int rank, std::uint64_t from_ns, std::uint64_t to_ns,
                           const char* function) {
    made.in_lock(rank, from_ns, to_ns, function, 0, trace::LockType::kExclusive);
  };
  for (int rank = 0; rank < 2; ++rank) made.on_window(rank, 20, 30, "MPI_Win_create", 0xa);
  in_lock(1, 100, 110, "MPI_Win_lock");
  in_lock(1, 600, 610, "MPI_Win_unlock");
  in_lock(0, 200, 630, "MPI_Win_lock");
  in_lock(0, 700, 710, "MPI_Win_unlock");
  for (int rank = 0; rank < 2; ++rank) made.collective(rank, 800, 810, "MPI_Barrier");
  const Joined job(made);
  const PathMetrics metrics = run_pass(job->transport(), path_metrics_pass(*job));
  CHECK(metrics.released == 0);
  CHECK(metrics.sum_idle_ns == 400);
  CHECK(value(metrics.sum, PathMetric::kComputationTime) == 2 * 790 - 400);
}

TEST_CASE("each metric takes its own path, such as most bytes or most computation") {
  MadeJob made(3);
  init(made, 3);
  made.send(0, 100, 110, 2, 1, 1000);  // 90 of work, 1000 bytes
  made.send(1, 1000, 1010, 2, 2, 10);  // 990 of work, 10 bytes
  made.receive(2, 20, 120, 0, 1, 1000);
  made.receive(2, 130, 1020, 1, 2, 10);
  made.collective(0, 1100, 1200, "MPI_Barrier");
  made.collective(1, 1100, 1200, "MPI_Barrier");
  made.collective(2, 1100, 1200, "MPI_Barrier");
  const Joined job(made);
  const PathMetrics metrics = run_pass(job->transport(), path_metrics_pass(*job));
  CHECK(metrics.released == 0);
  // A call's costs are passed on by the next call: rank 2's receives are charged, and the sends
  // that they matched are not.
  CHECK(value(metrics.path, PathMetric::kBytes) == 1010);
  CHECK(value(metrics.path, PathMetric::kMessages) == 3);
  CHECK(value(metrics.sum, PathMetric::kBytes) == 2020);
  CHECK(shown(PathMetric::kSynchronisation, value(metrics.path, PathMetric::kSynchronisation)) ==
        doctest::Approx(2 + std::log2(3)).epsilon(0.001));
  CHECK(shown(PathMetric::kBspSynchronisation,
              value(metrics.path, PathMetric::kBspSynchronisation)) == 3);
  // 990 at rank 1, then 80 at rank 2 between its receive and the barrier, or 90 at rank 1 itself.
  CHECK(value(metrics.path, PathMetric::kComputationTime) == 990 + 90);
  CHECK(value(metrics.most, PathMetric::kComputationTime) == 990 + 90);
  CHECK(metrics.sum_idle_ns == 80 + 870);
}

TEST_CASE("a broadcast's bytes count at every rank, and an allgather's are those of all ranks") {
  MadeJob made(2);
  init(made, 2);
  for (int rank = 0; rank < 2; ++rank) {
    trace::Event& bcast = made.enter(rank, 100, "MPI_Bcast");
    bcast.communicator = 0;
    bcast.root = 0;
    bcast.bytes = rank == 0 ? 500 : 0;
    made.leave(rank, 200, "MPI_Bcast");
    trace::Event& gather = made.enter(rank, 300, "MPI_Allgather");
    gather.communicator = 0;
    gather.bytes = 30;
    made.leave(rank, 400, "MPI_Allgather");
  }
  const Joined job(made);
  const PathMetrics metrics = run_pass(job->transport(), path_metrics_pass(*job));
  CHECK(value(metrics.sum, PathMetric::kBytes) == 2 * (500 + 60));
  CHECK(shown(PathMetric::kCommunication, value(metrics.path, PathMetric::kCommunication)) ==
        2 * 500 + 60);
  CHECK(shown(PathMetric::kBspCommunication, value(metrics.path, PathMetric::kBspCommunication)) ==
        560);
}

TEST_CASE("many small amounts beside a large one are not lost") {
  MadeJob made(2);
  init(made, 2);
  made.send(0, 100, 110, 1, 1, std::uint64_t{1} << 28);
  made.receive(1, 100, 120, 0, 1, std::uint64_t{1} << 28);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    made.send(0, 200 + i * 10, 201 + i * 10, 1, 2, 8);
    made.receive(1, 200 + i * 10, 205 + i * 10, 0, 2, 8);
  }
  const Joined job(made);
  CHECK(value(run_pass(job->transport(), path_metrics_pass(*job)).path, PathMetric::kBytes) ==
        (std::uint64_t{1} << 28) + 8000);
}

}  // namespace
}  // namespace fathom::analysis

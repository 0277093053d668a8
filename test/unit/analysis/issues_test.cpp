// SPDX-License-Identifier: BSD-3-Clause
// Pyrite's object on jobs written by hand has the issue that was built in, whom it names, what it
// costs, and no other issue.
#include <doctest/doctest.h>

#include <set>

#include "analysis/pyrite/issues.h"
#include "analysis/scope/profile_of_trace.h"
#include "test/unit/analysis/loaded_job.h"

namespace fathom::analysis {
namespace {

using test::column;
using test::figure;
using test::Loaded;
using test::MadeJob;
using Ranks = std::vector<std::int64_t>;

constexpr std::uint64_t kMs = 1'000'000;

struct Judged {
  explicit Judged(MadeJob& made, Thresholds thresholds = {}) : loaded(made) {
    loaded.input.thresholds = thresholds;
    profile = profile_of_trace(loaded.trace, {});
    loaded.input.profile = &profile;
    auto found = issues(loaded.input);
    REQUIRE(found.ok());
    outcome = std::move(*found);
  }
  std::set<std::string> kinds() const {
    std::set<std::string> names;
    for (const Finding& finding : outcome.findings) names.insert(finding.kind);
    return names;
  }
  const Finding& named(const std::string& kind) const {
    for (const Finding& finding : outcome.findings) {
      if (finding.kind == kind) return finding;
    }
    FAIL("no issue " << kind);
    return outcome.findings.front();
  }
  Loaded loaded;
  profile::Profile profile;
  Outcome outcome;
};
using IssueKinds = std::set<std::string>;

// Rank 1 sends 5 ms late, 20 times; 0 has posted its receive without blocking. Pyrite sees nothing
// of that.
MadeJob late_senders() {
  MadeJob made(2);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::uint64_t at = i * 10 * kMs;
    made.irecv(0, at, 7, 1);
    made.wait_receive(0, at + 100, at + 5 * kMs + 500, 7, 1);
    made.send(1, at + 5 * kMs + 100, at + 5 * kMs + 200, 0);
  }
  return made;
}

TEST_CASE(
    "a late sender of non-blocking receives is reported with who waited, how long, and nothing "
    "else") {
  MadeJob made = late_senders();
  const Judged judged(made);
  CHECK(judged.kinds() == IssueKinds{"late-sender"});
  const Finding& late = judged.named("late-sender");
  CHECK(late.count == 20);
  CHECK(*late.seconds == doctest::Approx(0.1));
  CHECK(late.culprits == Ranks{1});
  CHECK(late.victims == Ranks{0});
  CHECK(late.pairs == std::vector<RankPair>{{1, 0}});
  CHECK(late.severity == Severity::kCritical);
  CHECK(late.where.function == "MPI_Wait");
}

TEST_CASE("lateness below the threshold is not reported") {
  MadeJob made = late_senders();
  Thresholds thresholds;
  thresholds.late_wait_seconds = 0.006;
  CHECK(Judged(made, thresholds).kinds().empty());
}

TEST_CASE("late receivers are reported") {
  MadeJob made(2);
  made.send(0, 100, 5 * kMs + 50, 1, 0, 1 << 20);
  made.receive(1, 5 * kMs, 5 * kMs + 100, 0, 0, 1 << 20);
  const Judged judged(made);
  CHECK(judged.kinds() == IssueKinds{"late-receiver"});
  CHECK(judged.named("late-receiver").culprits == Ranks{1});
}

TEST_CASE("a late broadcaster is reported, and so are early members of a reduction") {
  MadeJob made(3);
  for (int rank = 0; rank < 3; ++rank)
    made.collective(rank, rank == 2 ? 5 * kMs : 100, 5 * kMs + 100, "MPI_Bcast", 2);
  // Rank 0 leaves at once; rank 1 stays until the root arrives.
  made.collective(0, 6 * kMs, 6 * kMs + 50, "MPI_Reduce", 2);
  made.collective(1, 6 * kMs, 10 * kMs, "MPI_Reduce", 2);
  made.collective(2, 9 * kMs, 10 * kMs, "MPI_Reduce", 2);
  const Judged judged(made);
  CHECK(judged.kinds() == IssueKinds{"late-broadcaster", "early-reduce-arrival"});
  CHECK(judged.named("late-broadcaster").culprits == Ranks{2});
  CHECK(judged.named("late-broadcaster").count == 2);
  const Finding& early = judged.named("early-reduce-arrival");
  CHECK(early.count == 2);
  CHECK(early.victims == Ranks{1, 0});
  CHECK(*early.seconds == doctest::Approx(3e-3 + 50e-9).scale(0));
}

TEST_CASE("barriers are reported with their spread and a rank that is always last") {
  MadeJob made(4);
  for (std::uint64_t i = 0; i < 10; ++i) {
    for (int rank = 0; rank < 4; ++rank)
      made.collective(rank, i * 10 * kMs + (rank == 3 ? 4 * kMs : 0), i * 10 * kMs + 4 * kMs + 100,
                      "MPI_Barrier");
  }
  const Judged judged(made);
  CHECK(judged.kinds() == IssueKinds{"barrier-arrival-skew", "barrier-imbalance"});
  for (const char* kind : {"barrier-arrival-skew", "barrier-imbalance"}) {
    CHECK(judged.named(kind).culprits == Ranks{3});
    CHECK(judged.named(kind).count == 10);
    CHECK(*judged.named(kind).seconds == doctest::Approx(3 * 10 * 4e-3));
  }
  CHECK(figure(judged.outcome, "barrier_events") == 40);
  CHECK(column<double>(judged.outcome, "barrier_spreads", "spread").size() == 10);
}

TEST_CASE("two waits for one message are reported with what they cost") {
  MadeJob made(2);
  for (std::uint64_t i = 0; i < 600; ++i) {
    const std::uint64_t at = i * 1000;
    made.isend(0, at, 5, 1);
    made.wait(0, at + 10, at + 110, 5);
    made.irecv(1, at, 6, 0);
    made.wait_receive(1, at + 300, at + 400, 6, 0);
  }
  const Judged judged(made);
  const Finding& overhead = judged.named("completion-overhead");
  CHECK(overhead.count == 1200);
  CHECK(*overhead.seconds == doctest::Approx(600 * 200e-9).scale(0));
  CHECK(overhead.severity == Severity::kCritical);
  CHECK(column<std::uint64_t>(judged.outcome, "per_rank", "completion_request_count") ==
        std::vector<std::uint64_t>{600, 600});
}

TEST_CASE("calls that are missing are not compared with those that were recorded") {
  const auto completions = [](const std::vector<std::string>& selection) {
    MadeJob made(2);
    for (std::uint64_t i = 0; i < 2000; ++i) {
      made.enter(1, i * 1000, "MPI_Test");
      made.leave(1, i * 1000 + 10, "MPI_Test");
    }
    made.send(0, 100, 110, 1);
    made.receive(1, 2'000'000, 2'000'010, 0);
    made.definitions.selection = selection;
    return Judged(made).kinds().contains("completion-overhead");
  };
  CHECK(completions({}));
  CHECK(!completions({"functions MPI_Test"}));
}

TEST_CASE("summary, ranks, links and windows add up to the same time") {
  MadeJob made = late_senders();
  made.send(0, 300 * kMs, 300 * kMs + 10, 1, 0, 100);
  made.receive(1, 300 * kMs, 300 * kMs + 20, 0, 0, 100);
  const Judged judged(made);
  CHECK(figure(judged.outcome, "canonical_transfer_events") == 21);
  CHECK(figure(judged.outcome, "canonical_transfer_bytes") == 20 * 8 + 100);
  CHECK(figure(judged.outcome, "total_events") == 20 * 3 + 2);
  CHECK(figure(judged.outcome, "pair_density") == 1);
  CHECK(column<std::uint64_t>(judged.outcome, "top_links", "bytes") ==
        std::vector<std::uint64_t>{160, 100});
  std::uint64_t sum = 0;
  for (const std::uint64_t messages :
       column<std::uint64_t>(judged.outcome, "time_windows", "canonical_transfer_events"))
    sum += messages;
  CHECK(sum == 21);
}

}  // namespace
}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/waits/wait_findings.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/seconds.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

using mpi::kWaitKinds;
using mpi::WaitKind;

struct KindText {
  const char* happens;  // "waited for messages that were sent late"
  const char* advice;
};

constexpr KindText kKinds[] = {
    {"for messages that were sent late",
     "have the sender send earlier, or give it less work before the send; post receives early and "
     "wait for them late"},
    {"for messages while others, sent earlier, were received later",
     "receive messages in the order in which they arrive: MPI_ANY_SOURCE, or MPI_Waitany on "
     "posted receives"},
    {"to send to ranks that posted the receive late",
     "post the receive earlier, or use a non-blocking send"},
    {"at barriers for the last rank to arrive",
     "balance the work before the barrier; check whether the program needs the barrier"},
    {"in collectives for the last rank to arrive",
     "balance the work before the collective, or use its non-blocking form"},
    {"as the root of reductions for the last rank to arrive",
     "balance the work before the reduction, or use its non-blocking form"},
    {"as the root of gathers for the last rank to arrive",
     "balance the work before the gather, or use its non-blocking form"},
    {"for the root of broadcasts", "have the root broadcast earlier, or use the non-blocking form"},
    {"for the root of scatters", "have the root scatter earlier, or use the non-blocking form"},
    {"in scans for lower ranks", "balance the work before the scan"},
    {"in loops of tests or probes for what other ranks did late",
     "have the other ranks do it earlier, or do something useful in the loop"},
    {"at the beginning of the job for the last rank to arrive",
     "look at how the launcher starts the processes, and at what the program does before MPI_Init"},
    {"at the end of the job for the last rank to arrive", "balance the work before MPI_Finalize"},
    {"to make or free a communicator or window, for the last rank to arrive",
     "make it once and keep it, or balance the work before"},
    {"at fences for the last rank to arrive",
     "balance the work before the fence, or let only the ranks that exchange data synchronise: "
     "MPI_Win_post, MPI_Win_start, or locks"},
    {"in collective file operations for the last rank to arrive",
     "balance the work before the operation, or let ranks read and write on their own"},
    {"in neighbourhood collectives for neighbours that arrived late",
     "balance the work before the collective, or use its non-blocking form"},
};
static_assert(std::size(kKinds) == kWaitKinds);

const KindText& text_of(WaitKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

// Ranks with the most time, largest first: those that make up nearly all of it, and each with a
// large share.
std::vector<std::int64_t> most(const std::map<std::int64_t, std::uint64_t>& sums) {
  std::vector<std::pair<std::int64_t, std::uint64_t>> order(sums.begin(), sums.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::uint64_t all = 0;
  for (const auto& [rank, ns] : order) all += ns;
  std::vector<std::int64_t> ranks;
  std::uint64_t named = 0;
  constexpr double kGoodPart = 0.05;
  for (const auto& [rank, ns] : order) {
    if (ranks.size() == kMostListed) break;
    if (!ranks.empty() && static_cast<double>(ns) < kGoodPart * static_cast<double>(all) &&
        static_cast<double>(named) >= (1 - kGoodPart) * static_cast<double>(all)) {
      break;
    }
    if (!ranks.empty() &&
        static_cast<double>(ns) < kGoodPart * static_cast<double>(order.front().second))
      break;
    ranks.push_back(rank);
    named += ns;
  }
  return ranks;
}

std::string rank_list(const std::vector<std::int64_t>& ranks) {
  constexpr std::size_t kShown = 4;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size() && i < kShown; ++i)
    text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
  if (ranks.size() > kShown) text += " and " + std::to_string(ranks.size() - kShown) + " more";
  return text;
}

// Culprit and victim, the longest waits first.
std::vector<RankPair> worst_pairs(const WaitGroup& group) {
  std::vector<std::pair<std::uint64_t, RankPair>> order;
  for (const auto& [pair, ns] : group.pairs) order.push_back({ns, {pair.first, pair.second}});
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<RankPair> pairs;
  for (std::size_t i = 0; i < order.size() && i < kMostListed; ++i)
    pairs.push_back(order[i].second);
  return pairs;
}

}  // namespace

void WaitGroup::add(std::int64_t victim, std::int64_t culprit, std::uint64_t pair_ns,
                    std::uint64_t pair_count) {
  ns += pair_ns;
  count += pair_count;
  culprits[culprit] += pair_ns;
  victims[victim] += pair_ns;
  pairs[{culprit, victim}] += pair_ns;
}

void rate(Finding& finding, std::uint64_t ns, std::uint64_t all_ns) {
  constexpr double kSteep = 4;  // a quarter of all time reaches the maximum
  const double share = static_cast<double>(ns) / static_cast<double>(all_ns);
  finding.seconds = base::seconds(ns);
  finding.strength = std::min(1.0, kSteep * share);
  finding.severity = severity_of(finding.strength);
  finding.evidence.push_back({"share_of_all_time", share});
}

Finding finding_of(WaitKind kind, const WaitGroup& group, Where where, double confidence,
                   std::uint64_t all_ns) {
  Finding finding;
  finding.kind = mpi::name_of(kind);
  finding.count = group.count;
  finding.culprits = most(group.culprits);
  finding.victims = most(group.victims);
  finding.pairs = worst_pairs(group);
  finding.where = std::move(where);
  finding.confidence = confidence;
  rate(finding, group.ns, all_ns);
  finding.evidence.push_back({"longest_wait_seconds", base::seconds(group.worst_ns)});
  finding.summary = rank_list(finding.victims) + " waited " +
                    base::duration_text(base::seconds(group.ns)) + " " + text_of(kind).happens +
                    " in " + finding.where.function + ", because of " + rank_list(finding.culprits);
  finding.advice = text_of(kind).advice;
  return finding;
}

}  // namespace fathom::analysis

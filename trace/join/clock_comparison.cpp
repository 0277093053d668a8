// SPDX-License-Identifier: BSD-3-Clause
#include "trace/join/clock_comparison.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

#include "base/flat_map.h"
#include "trace/join/walk.h"
#include "trace/meanings.h"

namespace fathom::trace {
namespace {

constexpr std::uint64_t kMostPairs = std::uint64_t{1} << 28;
constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 4;

// offset(from) <= offset(to) + slack_ns
struct Constraint {
  std::uint32_t from = 0, to = 0;
  std::int64_t slack_ns = 0;
};

// The strictest constraint of each pair, and the contradictions among all.
class Constraints : public Visitor {
 public:
  explicit Constraints(const Trace& trace) : meanings_(meanings(trace.definitions())) {
    const Definitions& definitions = trace.definitions();
    for (const profile::Communicator& communicator : definitions.communicators)
      members_.push_back(communicator.remote_world_ranks.empty() ? communicator.world_ranks.size()
                                                                 : 0);
    sequences_.resize(definitions.processes.size());
    for (auto& sequence : sequences_) sequence.resize(members_.size());
    for (std::size_t i = 0; i < definitions.processes.size(); ++i)
      process_of_[definitions.processes[i].rank] = static_cast<std::uint32_t>(i);
  }

  void transfer(const Transfer& transfer) override {
    add(static_cast<std::uint32_t>(transfer.sent.process),
        static_cast<std::uint32_t>(transfer.received.process), transfer.sent.time_ns,
        transfer.received.time_ns);
  }

  void leave(const Place& place, const Call& call) override {
    const mpi::Meaning& means = meanings_[call.enter.function];
    const std::int32_t communicator = call.enter.communicator;
    if (!means.in_sequence() || call.depth > 0 || communicator < 0 || place.thread > 0) return;
    const auto number = static_cast<std::size_t>(communicator);
    if (number >= members_.size() || members_[number] < 2) return;
    const std::uint32_t sequence = sequences_[place.process][number]++;
    if (!mpi::needs_data_of_others(means.collective) || means.flow == mpi::Flow::kPrefix ||
        means.requests != mpi::Requests::kNone || call.cut)
      return;
    auto& parts = open_[{communicator, sequence}];
    parts.push_back({static_cast<std::uint32_t>(place.process), call.enter.function,
                     call.enter.root, call.enter.bytes, call.enter.time_ns, call.leave.time_ns});
    if (parts.size() < members_[number]) return;
    complete(parts, means.flow);
    open_.erase({communicator, sequence});
  }

  std::vector<Constraint> strictest() const {
    std::vector<Constraint> all;
    slack_.for_each([&](std::uint64_t pair, std::int64_t slack_ns) {
      all.push_back({static_cast<std::uint32_t>(pair >> 32), static_cast<std::uint32_t>(pair),
                     slack_ns - kFar});
    });
    return all;
  }
  std::uint64_t contradictions() const { return contradictions_; }
  std::uint64_t worst_ns() const { return worst_ns_; }

 private:
  struct Part {
    std::uint32_t process = 0, function = 0;
    std::int32_t root = -1;
    std::uint64_t bytes = 0, enter_ns = 0, leave_ns = 0;
  };

  // What happened at `from` at `earlier_ns` came before `later_ns` at `to`.
  void add(std::uint32_t from, std::uint32_t to, std::uint64_t earlier_ns, std::uint64_t later_ns) {
    if (from == to) return;
    const std::int64_t slack_ns =
        static_cast<std::int64_t>(later_ns) - static_cast<std::int64_t>(earlier_ns);
    if (slack_ns < 0) {
      ++contradictions_;
      worst_ns_ = std::max(worst_ns_, static_cast<std::uint64_t>(-slack_ns));
    }
    // Kept with kFar added, so that 0 means that there is none yet.
    std::int64_t& kept = slack_[std::uint64_t{from} << 32 | to];
    if (kept == 0 || slack_ns + kFar < kept) kept = slack_ns + kFar;
  }

  void complete(const std::vector<Part>& parts, mpi::Flow flow) {
    const bool alike = std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
      return part.function == parts.front().function;
    });
    if (!alike) return;
    const auto root = process_of_.find(parts.front().root);
    const std::uint32_t at_root = root == process_of_.end() ? ~0u : root->second;
    if (flow == mpi::Flow::kBarrier || flow == mpi::Flow::kAllToAll) {
      pairs_ += parts.size() * parts.size();
      if (pairs_ > kMostPairs) return;
    }
    for (const Part& needed : parts) {
      if (flow != mpi::Flow::kBarrier && needed.bytes == 0) continue;
      if (flow == mpi::Flow::kFromRoot && needed.process != at_root) continue;
      for (const Part& part : parts) {
        if (flow == mpi::Flow::kToRoot && part.process != at_root) continue;
        add(needed.process, part.process, needed.enter_ns, part.leave_ns);
      }
    }
  }

  std::vector<mpi::Meaning> meanings_;
  std::vector<std::size_t> members_;                   // by communicator; 0: two groups
  std::vector<std::vector<std::uint32_t>> sequences_;  // by process and communicator
  std::map<std::int64_t, std::uint32_t> process_of_;   // by rank
  std::map<std::pair<std::int32_t, std::uint32_t>, std::vector<Part>> open_;
  base::FlatMap<std::uint64_t, std::int64_t> slack_;
  std::uint64_t contradictions_ = 0, worst_ns_ = 0, pairs_ = 0;
};

// Bellman-Ford: lowers `distance` until distance[to] <= distance[from] + slack + relaxed for all, with
// the ends exchanged if `backward`. False: a cycle contradicts itself.
bool settle(const std::vector<Constraint>& constraints, std::int64_t relaxed_ns, bool backward,
            std::vector<std::int64_t>& distance) {
  for (std::size_t round = 0; round <= distance.size(); ++round) {
    bool changed = false;
    for (const Constraint& one : constraints) {
      const std::uint32_t at = backward ? one.from : one.to, next = backward ? one.to : one.from;
      if (distance[at] >= kFar) continue;
      const std::int64_t there = distance[at] + one.slack_ns + relaxed_ns;
      if (there >= distance[next]) continue;
      distance[next] = there;
      changed = true;
    }
    if (!changed) return true;
  }
  return false;
}

}  // namespace

ClockComparison compare_clocks(const Trace& trace) {
  Constraints found(trace);
  walk_job(trace, found);
  const std::vector<Constraint> constraints = found.strictest();
  const std::size_t count = trace.definitions().processes.size();
  ClockComparison result;
  result.contradictions = found.contradictions();
  result.worst_ns = found.worst_ns();
  result.offsets.resize(count);
  if (count == 0) return result;

  // With nothing but zeros to begin with, every process moves no further than it must.
  std::vector<std::int64_t> least(count, 0);
  std::int64_t relaxed_ns = 0;
  if (!settle(constraints, 0, false, least)) {
    std::int64_t too_little = 0;
    relaxed_ns = static_cast<std::int64_t>(found.worst_ns());  // then all offsets may be 0
    while (relaxed_ns - too_little > 1) {
      const std::int64_t middle = too_little + (relaxed_ns - too_little) / 2;
      std::fill(least.begin(), least.end(), 0);
      (settle(constraints, middle, false, least) ? relaxed_ns : too_little) = middle;
    }
    std::fill(least.begin(), least.end(), 0);
    settle(constraints, relaxed_ns, false, least);
  }
  result.left_ns = static_cast<std::uint64_t>(relaxed_ns);

  std::vector<std::int64_t> above(count, kFar), below(count, kFar);
  above[0] = below[0] = 0;
  settle(constraints, relaxed_ns, false, above);
  settle(constraints, relaxed_ns, true, below);
  bool all_bounded = true;
  for (std::size_t i = 0; i < count; ++i) {
    ClockOffset& own = result.offsets[i];
    own.bounded = above[i] < kFar && below[i] < kFar;
    all_bounded = all_bounded && own.bounded;
    own.offset_ns = least[i];
    if (!own.bounded) continue;
    const std::int64_t range_ns = above[i] + below[i];  // from -below to above
    own.uncertainty_ns = static_cast<std::uint64_t>(std::max(range_ns / 2, relaxed_ns));
  }
  if (all_bounded) {
    for (std::size_t i = 0; i < count; ++i) result.offsets[i].offset_ns = (above[i] - below[i]) / 2;
  }
  const auto lowest = std::min_element(
      result.offsets.begin(), result.offsets.end(),
      [](const ClockOffset& a, const ClockOffset& b) { return a.offset_ns < b.offset_ns; });
  const std::int64_t base = lowest->offset_ns;
  for (ClockOffset& own : result.offsets) own.offset_ns -= base;
  return result;
}

}  // namespace fathom::trace

// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/path/profile_metrics.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/seconds.h"

namespace fathom::analysis {
namespace {

// In kProfileMetrics.
enum : std::size_t { kBytes, kMessages, kCommunication, kSynchronisation, kIn, kOutside, kRun };

using MetricPlace = std::pair<std::string, std::int64_t>;  // function, communicator

// The calls of a rank, or those on a path, of one function on one communicator.
struct Calls {
  MetricPlace place;
  std::int64_t rank = 0;
  double calls = 0, bytes = 0, seconds = 0, waiting = 0;
};

std::vector<Calls> calls_inside(const profile::CriticalPath& window) {
  std::vector<Calls> all;
  for (const profile::WindowCalls& block : window.calls) {
    for (std::size_t row = 0; row < block.rank.size(); ++row) {
      all.push_back({{block.function, block.communicator},
                     block.rank[row],
                     static_cast<double>(block.calls[row]),
                     static_cast<double>(block.bytes[row]),
                     base::seconds(block.total_ns[row]),
                     base::seconds(block.waiting_ns[row])});
    }
  }
  return all;
}

std::vector<Calls> calls_of_run(const profile::Profile& profile) {
  std::map<std::pair<MetricPlace, std::int64_t>, Calls> sums;
  const auto sum = [&sums](const auto& block, std::size_t row) -> Calls& {
    const MetricPlace place{block.function, block.communicator};
    Calls& one = sums[{place, block.rank[row]}];
    one.place = place;
    one.rank = block.rank[row];
    return one;
  };
  for (const profile::CallTimes& block : profile.calls) {
    for (std::size_t row = 0; row < block.rank.size(); ++row) {
      Calls& one = sum(block, row);
      one.calls += static_cast<double>(block.calls[row]);
      one.bytes += static_cast<double>(block.bytes[row]);
      one.seconds += base::seconds(block.total_ns[row]);
    }
  }
  for (const profile::CallWaits& block : profile.waits) {
    for (std::size_t row = 0; row < block.rank.size(); ++row)
      sum(block, row).waiting += base::seconds(block.total_ns[row]);
  }
  std::vector<Calls> all;
  all.reserve(sums.size());
  for (auto& [key, one] : sums) all.push_back(std::move(one));
  return all;
}

// Seconds of each rank. Those of the run include a little of MPI_Init, unlike the path.
std::map<std::int64_t, double> time_of_ranks(const profile::Profile& profile,
                                             const profile::CriticalPath& path) {
  std::map<std::int64_t, double> seconds;
  if (path.window.empty()) {
    for (const profile::Rank& rank : profile.ranks)
      if (rank.reported)
        seconds[rank.rank] = std::min(rank.seconds, base::seconds(path.elapsed_ns));
    return seconds;
  }
  for (std::size_t row = 0; row < path.ranks.rank.size(); ++row)
    seconds[path.ranks.rank[row]] = base::seconds(path.ranks.total_ns[row]);
  return seconds;
}

class CostModel {
 public:
  CostModel(const profile::Profile& profile, const std::vector<Calls>& of_ranks) {
    for (const profile::Communicator& one : profile.communicators)
      sizes_[one.id] = one.world_ranks.size() + one.remote_world_ranks.size();
    for (const Calls& one : of_ranks) {
      if (!is_contributed(routine_of(mpi::meaning_of(one.place.first))) ||
          size(one.place.second) < 2)
        continue;
      Together& all = together_[one.place];
      all.bytes += one.bytes;
      all.calls = std::max(all.calls, one.calls);
    }
  }

  // What the calls cost, except the time between calls.
  ProfileCosts of(Routine routine, const Calls& calls) const {
    ProfileCosts costs{};
    costs[kIn] = costs[kRun] = std::max(calls.seconds - calls.waiting, 0.0);
    if (routine < Routine::kSend || routine == Routine::kWait || routine == Routine::kTest ||
        routine == Routine::kProbe || routine == Routine::kOther)
      return costs;
    costs[kMessages] = calls.calls;
    if (routine < Routine::kBarrier) {
      costs[kBytes] = costs[kCommunication] = calls.bytes;
      costs[kSynchronisation] = calls.calls;
      return costs;
    }
    const double log2 = log2_of_size(size(calls.place.second));
    const double bytes = moved(routine, calls);
    costs[kBytes] = bytes;
    costs[kSynchronisation] = tree_terms(routine) * log2 * calls.calls;
    costs[kCommunication] =
        routine == Routine::kAlltoall ? bytes * log2 : tree_terms(routine) * bytes;
    return costs;
  }

 private:
  // A collective to which its members contribute different amounts that belong together.
  static bool is_contributed(Routine routine) {
    return routine == Routine::kBcast || routine == Routine::kScatter ||
           routine == Routine::kGather || routine == Routine::kAllgather;
  }
  std::size_t size(std::int64_t communicator) const {
    const auto found = sizes_.find(communicator);
    return found == sizes_.end() ? 0 : found->second;
  }
  double moved(Routine routine, const Calls& calls) const {
    if (routine == Routine::kBarrier || routine == Routine::kCommunicator) return 0;
    const auto all = together_.find(calls.place);
    if (all == together_.end() || all->second.calls == 0) return calls.bytes;
    return calls.calls * all->second.bytes / all->second.calls;
  }

  struct Together {
    double bytes = 0, calls = 0;  // of all members, of one
  };
  std::map<std::int64_t, std::size_t> sizes_;
  std::map<MetricPlace, Together> together_;
};

void add(ProfileCosts& to, const ProfileCosts& costs) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += costs[i];
}

ProfileCosts computation(double seconds) {
  ProfileCosts costs{};
  costs[kOutside] = costs[kRun] = seconds;
  return costs;
}

void add_path(const profile::CriticalPath& path, const CostModel& model, ProfileMetrics& metrics) {
  const auto charge = [&metrics](Routine routine, const ProfileCosts& costs) {
    add(metrics.path, costs);
    add(metrics.path_by_routine[static_cast<std::size_t>(routine)], costs);
  };
  for (const profile::PathPart& part : path.parts) {
    const mpi::Meaning& meaning = mpi::meaning_of(part.function);
    const Routine routine = part.program ? Routine::kComputation : routine_of(meaning);
    const bool counts = communicates(routine) && !meaning.persistent();
    for (std::size_t row = 0; row < part.rank.size(); ++row) {
      const double seconds = base::seconds(part.total_ns[row]);
      if (!counts) {
        charge(Routine::kComputation, computation(seconds));
        continue;
      }
      const bool known = row < part.calls.size() && row < part.bytes.size();
      if (!known) metrics.knows_path = false;
      charge(routine, model.of(routine, {{part.function, part.communicator},
                                         part.rank[row],
                                         known ? static_cast<double>(part.calls[row]) : 0,
                                         known ? static_cast<double>(part.bytes[row]) : 0,
                                         seconds,
                                         0}));
    }
  }
}

void add_ranks(const std::map<std::int64_t, double>& time, const std::vector<Calls>& calls,
               const CostModel& model, ProfileMetrics& metrics) {
  struct OfRank {
    ProfileCosts costs{};
    double waiting = 0;
  };
  std::map<std::int64_t, OfRank> ranks;
  for (const auto& [rank, seconds] : time) ranks[rank].costs = computation(seconds);
  for (const Calls& one : calls) {
    const mpi::Meaning& meaning = mpi::meaning_of(one.place.first);
    const Routine routine = routine_of(meaning);
    metrics.has_persistent |= meaning.persistent() || meaning.requests == mpi::Requests::kStarts;
    const auto rank = ranks.find(one.rank);
    if (!communicates(routine) || meaning.persistent() || rank == ranks.end()) continue;
    ProfileCosts costs = model.of(routine, one);
    add(metrics.sum_by_routine[static_cast<std::size_t>(routine)], costs);
    // The time of the call was taken for computation, and what it waited is on no path.
    // A polling loop waits between its calls, too.
    const double inside = std::max(one.seconds, one.waiting);
    costs[kOutside] -= inside;
    costs[kRun] -= inside;
    add(rank->second.costs, costs);
    rank->second.waiting += one.waiting;
  }
  for (auto& [number, rank] : ranks) {
    // Calls of several threads may take longer than the rank.
    rank.costs[kOutside] = std::max(rank.costs[kOutside], 0.0);
    rank.costs[kRun] = rank.costs[kOutside] + rank.costs[kIn];
    add(metrics.sum_by_routine[static_cast<std::size_t>(Routine::kComputation)],
        computation(rank.costs[kOutside]));
    for (std::size_t i = 0; i < rank.costs.size(); ++i)
      metrics.most[i] = std::max(metrics.most[i], rank.costs[i]);
    add(metrics.sum, rank.costs);
    metrics.most_idle_s = std::max(metrics.most_idle_s, rank.waiting);
    metrics.sum_idle_s += rank.waiting;
  }
  metrics.ranks = ranks.size();
}

}  // namespace

ProfileMetrics metrics_of(const profile::Profile& profile, const profile::CriticalPath& path) {
  const std::vector<Calls> calls = path.window.empty() ? calls_of_run(profile) : calls_inside(path);
  const CostModel model(profile, calls);
  ProfileMetrics metrics;
  add_path(path, model, metrics);
  add_ranks(time_of_ranks(profile, path), calls, model, metrics);
  return metrics;
}

}  // namespace fathom::analysis

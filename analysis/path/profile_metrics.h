// SPDX-License-Identifier: BSD-3-Clause
// critter's metrics (path_metrics.h) of a run or window without a trace: along its critical path,
// which is that of the run time, and per process.
//
// What a profile knows is calls: how many of each function on each communicator, how long, how long
// they waited, and the bytes in their arguments. So bytes and messages are those posted, as critter
// counts them. A collective of which only some members contribute data (broadcast, scatter, gather)
// moves per call what all members contribute together. Left out is what depends on which requests
// a call completed, or which message met which receive: BSP costs, the division of communication
// into synchronisation and data movement, the path of each metric of its own, alpha and beta, and
// what persistent requests move.
//
// Along the path the calls are those on it; of a stretch that is on it in part, a part.
#pragma once

#include <array>
#include <cstddef>

#include "analysis/path/path_metrics.h"
#include "analysis/path/routines.h"
#include "profile/profile.h"

namespace fathom::analysis {

inline constexpr std::array kProfileMetrics = {
    PathMetric::kBytes,           PathMetric::kMessages,          PathMetric::kCommunication,
    PathMetric::kSynchronisation, PathMetric::kCommunicationTime, PathMetric::kComputationTime,
    PathMetric::kRunTime};
// In display units, in that order.
using ProfileCosts = std::array<double, kProfileMetrics.size()>;

struct ProfileMetrics {
  bool knows_path = true;  // false: the profile does not say what was moved along the path
  ProfileCosts path{};
  std::array<ProfileCosts, kRoutines> path_by_routine{};
  ProfileCosts most{}, sum{};  // of a rank, over all
  std::array<ProfileCosts, kRoutines> sum_by_routine{};
  double most_idle_s = 0, sum_idle_s = 0;
  std::size_t ranks = 0;
  bool has_persistent = false;  // requests, of which it is not known what they moved
};

// `path` is one of the profile's.
ProfileMetrics metrics_of(const profile::Profile& profile, const profile::CriticalPath& path);

}  // namespace fathom::analysis

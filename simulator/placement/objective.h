// SPDX-License-Identifier: BSD-3-Clause
// What makes one placement of a job better than another, and how good any placement can be.
//
// Let b_rs be the bytes from rank r to rank s, d_rs the hops between their hosts, and load_l the
// bytes over link l with capacity C_l (links of hosts included):
//
//     congestion   max_l load_l / C_l     seconds, if capacities are bytes per second
//     time         end of the last transfer if everything is sent at once, max-min fair
//                  (flow_model.h)
//     hop-bytes    sum_l load_l           = sum b_rs d_rs on shortest paths
//     host-bytes   sum of b_rs over ranks on different hosts
//
// Lower bounds hold for every placement on these hosts (each with its slots) and every routing.
//
// - host-bytes: a rank has at most S - 1 others on its host, S being the most slots of any host. So
//   all but its S - 1 heaviest partners are on other hosts.
// - hop-bytes: take the hops to the k-th nearest place, minimised over all hosts. A rank's
//   partners, in descending order of bytes, are at least this far away.
// - Both hold for what ranks send and for what they receive; the larger value counts.
// - congestion, and time, which cannot be shorter: some link is at least as loaded as the mean. So
//   it is at least hop-bytes over the capacity of all links, host-bytes over the capacity of all
//   links out of these hosts, and for each rank what it must send or receive over the links of its
//   host.
// - Up to 1,024 ranks, the spectrum of the traffic gives a second bound on the traffic between
//   hosts and between their switches (spectrum.h).
#pragma once

#include <array>
#include <string_view>

#include "base/result.h"
#include "simulator/placement/distance/place_costs.h"
#include "simulator/placement/placement.h"
#include "simulator/routing/routing.h"

namespace fathom::simulator {

enum class Objective { kCongestion, kTime, kHopBytes, kHostBytes };

inline constexpr std::array<const char*, 4> kObjectiveNames = {"congestion", "time", "hop-bytes",
                                                               "host-bytes"};

// An Error lists the names.
base::Result<Objective> find_objective(std::string_view name);

struct Scores {
  std::array<double, 4> value = {};  // by Objective
  double operator[](Objective objective) const {
    return value[static_cast<std::size_t>(objective)];
  }
  double& operator[](Objective objective) { return value[static_cast<std::size_t>(objective)]; }
};

// Cost: one routing; with_time also one run of the flow model, where a router that splits flows is
// an Error.
base::Result<Scores> evaluate(const Network& network, const Job& job, const Placement& placement,
                              const RouterRow& router, std::uint64_t seed, bool with_time);

// `hosts` are those the job may use. `costs`: hops between them.
Scores lower_bounds(const Network& network, const Job& job, std::span<const HostId> hosts,
                    const PlaceCosts& costs);

// The bound of the nearest places alone, for the distances of `costs`, which is cheap.
double nearest_places_bound(const Job& job, const PlaceCosts& costs);

}  // namespace fathom::simulator

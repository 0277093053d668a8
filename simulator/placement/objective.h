// SPDX-License-Identifier: BSD-3-Clause
// What makes one placement of a job better than another, and how good any can be.
//
// With b_rs bytes from rank r to s, d_rs hops between their hosts, load_l bytes over link l of
// capacity C_l (links of hosts included):
//
//     congestion   max_l load_l / C_l                (seconds, where capacities are bytes per second)
//     time         when all that is sent at once has arrived, max-min fair (flow_model.h)
//     hop-bytes    sum_l load_l, which is sum b_rs d_rs where ways are shortest
//     host-bytes   sum of b_rs over ranks of different hosts
//
// Lower bounds hold for every placement on these hosts (each with its slots) and every routing: a
// rank has at most S - 1 others beside it, S the most slots of a host, so all but its S - 1
// heaviest partners are on other hosts (host-bytes); the k-th place nearest to a host is as far as
// it is, at best that of the host where it is nearest, so partners in descending order of bytes are
// at least so far away (hop-bytes). Both hold for what ranks send and for what they get; the larger
// counts. Then some link is at least as loaded as the mean: hop-bytes over the capacity of all
// links, host-bytes over that of all links out of these hosts, and what a rank alone must send or
// get over the links of its host (congestion, and time, which no link can beat). Up to 1,024 ranks
// the spectrum of the traffic gives a second bound on what passes between hosts, and between the
// switches they are linked to (spectrum.h).
#pragma once

#include <array>
#include <string_view>

#include "base/result.h"
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

// Cost: one routing; with_time also that of the flow model, and a router that splits flows is an
// Error.
base::Result<Scores> evaluate(const Network& network, const Job& job, const Placement& placement,
                              const RouterRow& router, std::uint64_t seed, bool with_time);

// `hosts` are those the job may use.
Scores lower_bounds(const Network& network, const Job& job, std::span<const HostId> hosts);

}  // namespace fathom::simulator

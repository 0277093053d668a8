// SPDX-License-Identifier: BSD-3-Clause
// Which hosts a job gets (selection), which process runs where (placement), and what the hosts then
// send to each other. How to add a selection or a placement: docs/adding-a-simulator-part.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulator/jobs/job.h"
#include "simulator/network/network.h"
#include "simulator/routing/routing.h"

namespace fathom::simulator {

// Advice in the error about too few slots.
inline constexpr char kMoreSlots[] =
    "more slots on each host (--slots N if the cluster does not give them, otherwise in its file "
    "or specification)";

using Placement = std::vector<HostId>;  // by rank

struct SelectionRequest {
  const Network& network;
  std::int64_t ranks = 0;
  std::span<const char> busy;  // by host: nonzero if another job has it; empty: all are free
  std::uint64_t seed = 1;

  bool is_free(HostId host) const { return busy.empty() || busy[host] == 0; }
};

// A row of the registry. No two jobs share a host. The chosen hosts have at least as many slots as
// the job has processes, each is chosen once, and placements fill them in this order.
struct SelectorRow {
  const char* name;  // as in `fathom simulate --selection NAME`
  const char* help;  // one line
  // Called only if the free hosts have enough slots.
  std::vector<HostId> (*select)(const SelectionRequest& request);
};

// An Error if the free hosts have too few slots; it gives their number.
base::Result<std::vector<HostId>> select_hosts(const SelectorRow& selector,
                                               const SelectionRequest& request);

struct PlacementRequest {
  const Network& network;
  const Job& job;
  std::span<const HostId> hosts;  // in the order to fill them
  std::uint64_t seed = 1;
};

// A row of the registry. No host gets more processes than it has slots.
struct PlacementRow {
  const char* name;  // as in `fathom simulate --placement NAME`
  const char* help;  // one line
  // Called only if the hosts have enough slots.
  base::Result<Placement> (*place)(const PlacementRequest& request);
};

// An Error if the hosts have too few slots.
base::Result<Placement> place_processes(const PlacementRow& row, const PlacementRequest& request);

// What one demand represents: everything one host sends to another, or one pair of processes (`key`
// then identifies the pair).
enum class Granularity { kHosts, kProcesses };

// The demands of a placed job, in the order that greedy routers use for equally heavy demands: by
// the first contributing pair of processes, source ranks sorted by their decimal digits as text (0,
// 1, 10, 100, 101, …, 2, 20, …), then destination ranks ascending. The archives that the reference
// simulator reads have this order, so it routes equal demands in the same order.
std::vector<Demand> demands_of(const Job& job, const Placement& placement, Granularity granularity);

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/placement.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace fathom::simulator {
namespace {

std::uint64_t slots_of(const Network& network, std::span<const HostId> hosts) {
  std::uint64_t slots = 0;
  for (const HostId host : hosts) slots += network.slots(host);
  return slots;
}

std::string too_few(const std::string& whose, std::uint64_t slots, std::int64_t ranks) {
  return whose + " " + std::to_string(slots) + " slots and the job has " + std::to_string(ranks) +
         " processes; take a larger cluster, " + kMoreSlots + ", or a smaller job";
}

// The ranks sorted as text: a walk through the tree of decimal numbers.
void append_in_text_order(std::int64_t rank, std::int64_t ranks, std::vector<std::int64_t>& order) {
  if (rank >= ranks) return;
  order.push_back(rank);
  if (rank == 0) return;
  for (std::int64_t digit = 0; digit < 10; ++digit) {
    append_in_text_order(rank * 10 + digit, ranks, order);
  }
}

// The reference simulator reads files in this order, and its greedy routers depend on it.
std::vector<std::int64_t> text_order(std::int64_t ranks) {
  std::vector<std::int64_t> order;
  order.reserve(static_cast<std::size_t>(ranks));
  for (std::int64_t digit = 0; digit < 10; ++digit) append_in_text_order(digit, ranks, order);
  return order;
}

// One demand per pair of processes, in the order that demands_of() promises.
std::vector<Demand> process_demands(const Job& job, const Placement& placement) {
  std::vector<std::size_t> first(static_cast<std::size_t>(job.ranks) + 1, 0);
  for (const profile::PairCount& pair : job.pairs)
    ++first[static_cast<std::size_t>(pair.source) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<Demand> demands;
  demands.reserve(job.pairs.size());
  for (const std::int64_t source : text_order(job.ranks)) {
    const auto row = static_cast<std::size_t>(source);
    for (std::size_t at = first[row]; at < first[row + 1]; ++at) {
      const profile::PairCount& pair = job.pairs[at];
      demands.push_back({placement[row], placement[static_cast<std::size_t>(pair.destination)],
                         static_cast<double>(pair.bytes), 1, static_cast<std::uint32_t>(at + 1)});
    }
  }
  return demands;
}

// Adds up demands between the same hosts; each sum takes the position of its first demand.
std::vector<Demand> merged(const std::vector<Demand>& demands) {
  std::vector<std::uint32_t> order(demands.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto hosts = [&](std::uint32_t at) {
    return std::uint64_t{demands[at].source} << 32 | demands[at].destination;
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) {
    return std::pair(hosts(left), left) < std::pair(hosts(right), right);
  });
  std::vector<std::pair<std::uint32_t, Demand>> sums;  // by position of the first
  for (const std::uint32_t at : order) {
    if (!sums.empty() && sums.back().second.source == demands[at].source &&
        sums.back().second.destination == demands[at].destination) {
      sums.back().second.bytes += demands[at].bytes;
      ++sums.back().second.flows;
    } else {
      sums.emplace_back(at, demands[at]);
      sums.back().second.key = 0;
    }
  }
  std::sort(sums.begin(), sums.end(),
            [](const auto& left, const auto& right) { return left.first < right.first; });
  std::vector<Demand> made;
  made.reserve(sums.size());
  for (const auto& [position, demand] : sums) made.push_back(demand);
  return made;
}

}  // namespace

base::Result<std::vector<HostId>> select_hosts(const SelectorRow& selector,
                                               const SelectionRequest& request) {
  std::uint64_t slots = 0;
  for (HostId host = 0; host < request.network.host_count(); ++host) {
    if (request.is_free(host)) slots += request.network.slots(host);
  }
  if (slots < static_cast<std::uint64_t>(request.ranks)) {
    return base::Error{
        too_few("the free hosts of '" + request.network.name() + "' have", slots, request.ranks)};
  }
  return selector.select(request);
}

base::Result<Placement> place_processes(const PlacementRow& row, const PlacementRequest& request) {
  const std::uint64_t slots = slots_of(request.network, request.hosts);
  if (slots < static_cast<std::uint64_t>(request.job.ranks)) {
    return base::Error{too_few("the chosen hosts have", slots, request.job.ranks)};
  }
  return row.place(request);
}

std::vector<Demand> demands_of(const Job& job, const Placement& placement,
                               Granularity granularity) {
  std::vector<Demand> demands = process_demands(job, placement);
  return granularity == Granularity::kProcesses ? demands : merged(demands);
}

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/near_selectors.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

#include "base/order/sort_stably.h"
#include "simulator/network/host_distances.h"

namespace fathom::simulator {
namespace {

struct SwitchHosts {
  NodeId at = kNoId;
  std::vector<HostId> free;
  std::uint64_t slots = 0;  // of the free hosts
};

NodeId switch_of(const Network& network, HostId host) {
  const auto links = network.links_from(host);
  return links.empty() ? host : network.link(links.front()).target;
}

// Only switches with free hosts, ordered by their first host.
std::vector<SwitchHosts> free_by_switch(const SelectionRequest& request) {
  std::vector<SwitchHosts> result;
  std::map<NodeId, std::size_t> place;
  for (HostId host = 0; host < request.network.host_count(); ++host) {
    if (!request.is_free(host)) continue;
    const NodeId at = switch_of(request.network, host);
    const auto [found, is_new] = place.try_emplace(at, result.size());
    if (is_new) result.push_back({at, {}, 0});
    result[found->second].free.push_back(host);
    result[found->second].slots += request.network.slots(host);
  }
  return result;
}

// Takes hosts from `switches`, in this order, until the job has enough slots.
std::vector<HostId> taken_from(const SelectionRequest& request,
                               const std::vector<const SwitchHosts*>& switches) {
  std::vector<HostId> chosen;
  std::uint64_t slots = 0;
  for (const SwitchHosts* at : switches) {
    for (const HostId host : at->free) {
      if (slots >= static_cast<std::uint64_t>(request.ranks)) return chosen;
      chosen.push_back(host);
      slots += request.network.slots(host);
    }
  }
  return chosen;
}

struct Neighbourhood {
  std::vector<const SwitchHosts*> switches;
  std::uint64_t distance = 0, slots = 0;
  auto rank() const { return std::tuple(switches.size(), distance, slots); }
};

Neighbourhood around(const SelectionRequest& request, const std::vector<SwitchHosts>& all,
                     const SwitchHosts& start) {
  const std::vector<std::uint32_t> hops = hops_from(request.network, start.at);
  std::vector<const SwitchHosts*> order;
  for (const SwitchHosts& at : all) order.push_back(&at);
  base::sort_stably(order, [&](const SwitchHosts* left, const SwitchHosts* right) {
    return std::tuple(hops[left->at], right->slots) < std::tuple(hops[right->at], left->slots);
  });
  Neighbourhood result;
  for (const SwitchHosts* at : order) {
    if (result.slots >= static_cast<std::uint64_t>(request.ranks)) break;
    result.switches.push_back(at);
    result.distance += hops[at->at];
    result.slots += at->slots;
  }
  return result;
}

const SwitchHosts* best_single(const SelectionRequest& request,
                               const std::vector<SwitchHosts>& all) {
  const SwitchHosts* best = nullptr;
  for (const SwitchHosts& at : all) {
    if (at.slots < static_cast<std::uint64_t>(request.ranks)) continue;
    if (best == nullptr || at.slots < best->slots) best = &at;
  }
  return best;
}

}  // namespace

std::vector<HostId> select_switches(const SelectionRequest& request) {
  const std::vector<SwitchHosts> all = free_by_switch(request);
  if (const SwitchHosts* single = best_single(request, all)) return taken_from(request, {single});
  Neighbourhood best;
  for (const SwitchHosts& start : all) {
    Neighbourhood found = around(request, all, start);
    if (best.switches.empty() || found.rank() < best.rank()) best = std::move(found);
  }
  std::vector<HostId> chosen = taken_from(request, best.switches);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<HostId> select_contiguous(const SelectionRequest& request) {
  const Network& network = request.network;
  const auto ranks = static_cast<std::uint64_t>(request.ranks);
  HostId best_first = 0, best_end = 0;
  std::size_t best_switches = 0;
  std::map<NodeId, std::size_t> touched;  // of hosts first..end-1: how many by switch
  std::uint64_t slots = 0;
  HostId first = 0;
  const auto drop_first = [&] {
    slots -= network.slots(first);
    if (const auto at = touched.find(switch_of(network, first)); --at->second == 0)
      touched.erase(at);
    ++first;
  };
  for (HostId host = 0; host < network.host_count(); ++host) {
    if (!request.is_free(host)) {
      touched.clear();
      slots = 0;
      first = host + 1;
      continue;
    }
    slots += network.slots(host);
    ++touched[switch_of(network, host)];
    while (slots >= ranks + network.slots(first)) drop_first();
    if (slots < ranks || (best_end > 0 && touched.size() >= best_switches)) continue;
    best_first = first;
    best_end = host + 1;
    best_switches = touched.size();
  }
  if (best_end == 0) return select_switches(request);
  std::vector<HostId> chosen;
  for (HostId host = best_first; host < best_end; ++host) chosen.push_back(host);
  return chosen;
}

std::vector<HostId> select_fragmented(const SelectionRequest& request) {
  const std::vector<SwitchHosts> all = free_by_switch(request);
  std::vector<HostId> chosen;
  std::uint64_t slots = 0;
  for (std::size_t turn = 0;; ++turn) {
    for (const SwitchHosts& at : all) {
      if (turn >= at.free.size()) continue;
      chosen.push_back(at.free[turn]);
      slots += request.network.slots(chosen.back());
      if (slots >= static_cast<std::uint64_t>(request.ranks)) return chosen;
    }
  }
}

}  // namespace fathom::simulator

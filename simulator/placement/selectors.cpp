// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/selectors.h"

#include <algorithm>
#include <cstddef>

#include "base/order/sort_stably.h"
#include "base/random.h"

namespace fathom::simulator {
namespace {

struct Run {
  HostId first = 0;
  HostId count = 0;
  std::uint64_t slots = 0;
};

std::vector<Run> free_runs(const SelectionRequest& request) {
  std::vector<Run> runs;
  bool inside = false;
  for (HostId host = 0; host < request.network.host_count(); ++host) {
    if (!request.is_free(host)) {
      inside = false;
      continue;
    }
    if (!inside) runs.push_back({host, 0, 0});
    inside = true;
    ++runs.back().count;
    runs.back().slots += request.network.slots(host);
  }
  return runs;
}

}  // namespace

std::vector<HostId> select_linear(const SelectionRequest& request) {
  std::vector<Run> runs = free_runs(request);
  const auto ranks = static_cast<std::uint64_t>(request.ranks);
  std::vector<Run> large;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(large),
               [&](const Run& run) { return run.slots >= ranks; });
  if (!large.empty()) {
    runs = {*std::min_element(large.begin(), large.end(), [](const Run& left, const Run& right) {
      return left.count < right.count;
    })};
  } else {
    base::sort_stably(runs,
                      [](const Run& left, const Run& right) { return left.count > right.count; });
  }
  std::vector<HostId> chosen;
  std::uint64_t slots = 0;
  for (const Run& run : runs) {
    for (HostId host = run.first; host < run.first + run.count && slots < ranks; ++host) {
      chosen.push_back(host);
      slots += request.network.slots(host);
    }
  }
  return chosen;
}

std::vector<HostId> select_random(const SelectionRequest& request) {
  std::vector<HostId> hosts;
  for (HostId host = 0; host < request.network.host_count(); ++host) {
    if (request.is_free(host)) hosts.push_back(host);
  }
  base::Random random(request.seed);
  std::uint64_t slots = 0;
  std::size_t chosen = 0;
  while (slots < static_cast<std::uint64_t>(request.ranks)) {
    std::swap(hosts[chosen], hosts[chosen + random.below(hosts.size() - chosen)]);
    slots += request.network.slots(hosts[chosen++]);
  }
  hosts.resize(chosen);
  // In the order of the file, because placements fill hosts in the order given.
  std::sort(hosts.begin(), hosts.end());
  return hosts;
}

}  // namespace fathom::simulator

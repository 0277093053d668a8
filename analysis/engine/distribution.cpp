// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/distribution.h"

#include <algorithm>
#include <numeric>

#include "base/order/sort_stably.h"

namespace fathom::analysis {

Mapping longest_first(const std::vector<std::uint64_t>& loads, std::size_t owners) {
  std::vector<std::size_t> order(loads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  base::sort_stably(order, [&](std::size_t a, std::size_t b) { return loads[a] > loads[b]; });
  Mapping mapping(loads.size());
  std::vector<std::uint64_t> sums(owners);
  for (const std::size_t process : order) {
    const auto least = std::min_element(sums.begin(), sums.end());
    // At least 1, because otherwise one owner would get all processes without records.
    *least += std::max<std::uint64_t>(loads[process], 1);
    mapping[process] = static_cast<std::uint32_t>(least - sums.begin());
  }
  return mapping;
}

namespace {

// Each process goes to the owner in whose share of the total load its middle lies.
Mapping in_runs(const std::vector<std::uint64_t>& loads, std::size_t owners) {
  const auto whole =
      static_cast<double>(std::accumulate(loads.begin(), loads.end(), std::uint64_t{0}));
  Mapping mapping(loads.size());
  double before = 0;
  for (std::size_t process = 0; process < loads.size(); ++process) {
    const auto load = static_cast<double>(loads[process]);
    const double middle = whole > 0 ? (before + load / 2) / whole : 0;
    mapping[process] = static_cast<std::uint32_t>(
        std::min(owners - 1, static_cast<std::size_t>(middle * static_cast<double>(owners))));
    before += load;
  }
  return mapping;
}

std::uint64_t most_of_an_owner(const Mapping& mapping, const std::vector<std::uint64_t>& loads,
                               std::size_t owners) {
  const auto sums = load_of_owners(mapping, loads, owners);
  return *std::max_element(sums.begin(), sums.end());
}

}  // namespace

Mapping neighbours_together(const std::vector<std::uint64_t>& loads, std::size_t owners) {
  Mapping runs = in_runs(loads, owners), even = longest_first(loads, owners);
  const std::uint64_t least = most_of_an_owner(even, loads, owners);
  return most_of_an_owner(runs, loads, owners) <= least + least / 20 ? runs : even;
}

std::vector<std::uint64_t> load_of_owners(const Mapping& mapping,
                                          const std::vector<std::uint64_t>& loads,
                                          std::size_t owners) {
  std::vector<std::uint64_t> sums(owners);
  for (std::size_t process = 0; process < mapping.size(); ++process)
    sums[mapping[process]] += loads[process];
  return sums;
}

}  // namespace fathom::analysis

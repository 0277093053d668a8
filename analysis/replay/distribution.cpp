#include "analysis/replay/distribution.h"

#include <algorithm>
#include <numeric>

namespace fathom::analysis {

Mapping longest_first(const std::vector<std::uint64_t>& loads, std::size_t owners) {
  std::vector<std::size_t> order(loads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return loads[a] > loads[b]; });
  Mapping mapping(loads.size());
  std::vector<std::uint64_t> sums(owners);
  for (const std::size_t process : order) {
    const auto least = std::min_element(sums.begin(), sums.end());
    *least += std::max<std::uint64_t>(loads[process], 1);
    mapping[process] = static_cast<std::uint32_t>(least - sums.begin());
  }
  return mapping;
}

std::vector<std::uint64_t> load_of_owners(const Mapping& mapping, const std::vector<std::uint64_t>& loads,
                                          std::size_t owners) {
  std::vector<std::uint64_t> sums(owners);
  for (std::size_t process = 0; process < mapping.size(); ++process) sums[mapping[process]] += loads[process];
  return sums;
}

}  // namespace fathom::analysis

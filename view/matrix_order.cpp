// SPDX-License-Identifier: BSD-3-Clause
#include "view/matrix_order.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace fathom::view {
namespace {

std::vector<std::uint32_t> natural(std::uint32_t size) {
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

std::vector<std::vector<std::uint32_t>> neighbours_of(std::uint32_t size,
                                                      const std::vector<MatrixCell>& cells) {
  std::vector<std::vector<std::uint32_t>> neighbours(size);
  for (const MatrixCell& cell : cells) {
    if (cell.source == cell.destination) continue;
    neighbours[cell.source].push_back(cell.destination);
    neighbours[cell.destination].push_back(cell.source);
  }
  for (auto& list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return neighbours;
}

}  // namespace

std::vector<std::uint32_t> pattern_order(std::uint32_t size, const std::vector<MatrixCell>& cells) {
  const auto neighbours = neighbours_of(size, cells);
  const auto fewer = [&neighbours](std::uint32_t a, std::uint32_t b) {
    return std::pair(neighbours[a].size(), a) < std::pair(neighbours[b].size(), b);
  };
  std::vector<std::uint32_t> starts = natural(size), order;
  std::sort(starts.begin(), starts.end(), fewer);
  std::vector<bool> seen(size);
  for (const std::uint32_t start : starts) {
    if (seen[start]) continue;
    seen[start] = true;
    order.push_back(start);
    for (std::size_t at = order.size() - 1; at < order.size(); ++at) {
      std::vector<std::uint32_t> next;
      for (const std::uint32_t one : neighbours[order[at]]) {
        if (!seen[one]) next.push_back(one);
        seen[one] = true;
      }
      std::sort(next.begin(), next.end(), fewer);
      order.insert(order.end(), next.begin(), next.end());
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<std::uint32_t> cluster_order(std::uint32_t size, std::vector<MatrixCell> cells) {
  for (MatrixCell& cell : cells) {
    if (cell.source > cell.destination) std::swap(cell.source, cell.destination);
  }
  const auto key = [](const MatrixCell& cell) { return std::pair(cell.source, cell.destination); };
  std::sort(cells.begin(), cells.end(),
            [&](const MatrixCell& a, const MatrixCell& b) { return key(a) < key(b); });
  std::vector<MatrixCell> both;  // directions summed
  for (const MatrixCell& cell : cells) {
    if (!both.empty() && key(both.back()) == key(cell)) {
      both.back().value += cell.value;
    } else {
      both.push_back(cell);
    }
  }
  std::stable_sort(both.begin(), both.end(),
                   [](const MatrixCell& a, const MatrixCell& b) { return a.value > b.value; });
  std::vector<std::uint32_t> group = natural(size);
  std::vector<std::vector<std::uint32_t>> members(size);
  for (std::uint32_t one = 0; one < size; ++one) members[one] = {one};
  for (const MatrixCell& cell : both) {
    std::uint32_t into = group[cell.source], from = group[cell.destination];
    if (into == from) continue;
    // The smaller group is renumbered, so all merges together cost O(size log size).
    if (members[into].size() < members[from].size()) std::swap(into, from);
    for (const std::uint32_t one : members[from]) group[one] = into;
    members[into].insert(members[into].end(), members[from].begin(), members[from].end());
    members[from].clear();
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t one = 0; one < size; ++one) {
    auto& whole = members[group[one]];
    order.insert(order.end(), whole.begin(), whole.end());
    whole.clear();
  }
  return order;
}

std::vector<std::uint32_t> host_order(const std::vector<std::string>& hosts) {
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < hosts.size(); ++i) first.emplace(hosts[i], i);
  std::vector<std::uint32_t> order = natural(static_cast<std::uint32_t>(hosts.size()));
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return first[hosts[a]] < first[hosts[b]];
  });
  return order;
}

}  // namespace fathom::view

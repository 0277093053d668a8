// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/neighbor_lists.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

namespace fathom::profiler {
namespace {

struct AllLists {
  std::mutex lock;
  std::deque<std::vector<std::uint32_t>> lists;
  std::map<std::vector<std::uint32_t>, std::int32_t> numbers;
  std::size_t ranks = 0;
};
AllLists& all_lists() {
  static auto* all = new AllLists;  // outlives every caller
  return *all;
}

}  // namespace

std::int32_t NeighborLists::add(std::vector<std::uint32_t> ranks) noexcept try {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  AllLists& all = all_lists();
  const std::lock_guard guard(all.lock);
  if (const auto known = all.numbers.find(ranks); known != all.numbers.end()) return known->second;
  if (all.ranks + ranks.size() + all.lists.size() > kMost) return kUnknown;
  all.ranks += ranks.size();
  all.lists.push_back(ranks);
  const auto number = static_cast<std::int32_t>(all.lists.size() - 1);
  all.numbers.emplace(std::move(ranks), number);
  return number;
} catch (...) {
  return kUnknown;
}

const std::vector<std::uint32_t>* NeighborLists::list(std::int32_t number) {
  const AllLists& all = all_lists();
  if (number < 0 || static_cast<std::size_t>(number) >= all.lists.size()) return nullptr;
  return &all.lists[static_cast<std::size_t>(number)];
}

}  // namespace fathom::profiler

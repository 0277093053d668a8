// SPDX-License-Identifier: BSD-3-Clause
#include "base/order/sort_stably.h"

#include <algorithm>
#include <numeric>

namespace fathom::base {

std::vector<std::size_t> stable_order(std::size_t count, const void* list,
                                      bool (*less)(const void* list, std::size_t a,
                                                   std::size_t b)) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return less(list, a, b); });
  return order;
}

}  // namespace fathom::base

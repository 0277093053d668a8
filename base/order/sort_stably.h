// SPDX-License-Identifier: BSD-3-Clause
// std::stable_sort's order, for lists that are sorted once for each result.
//
// std::stable_sort compiles some 9 kB for each kind of element and each comparison, which came to a thirteenth
// of all of Fathom's code. Here the sorting is compiled once, of positions; what is compiled for each call is the
// comparison, and one pass that moves the elements. The comparison is called through a pointer: where a list
// of each event or message is sorted, std::stable_sort it is.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace fathom::base {

// The positions 0 to `count` - 1 in stable order. `less(list, a, b)`: whether the element at `a` comes before that at `b`.
std::vector<std::size_t> stable_order(std::size_t count, const void* list,
                                      bool (*less)(const void* list, std::size_t a, std::size_t b));

// Sorts a vector (or another list with random access) by `less(element, element)`, as std::stable_sort does.
template <typename List, typename Less>
void sort_stably(List& list, const Less& less) {
  struct Sorted {
    const List& list;
    const Less& less;
  };
  const Sorted sorted{list, less};
  const std::vector<std::size_t> order = stable_order(
      list.size(), &sorted, [](const void* context, std::size_t a, std::size_t b) -> bool {
        const Sorted& known = *static_cast<const Sorted*>(context);
        return known.less(known.list[a], known.list[b]);
      });
  List result;
  result.reserve(list.size());
  for (const std::size_t at : order) result.push_back(std::move(list[at]));
  list = std::move(result);
}

}  // namespace fathom::base

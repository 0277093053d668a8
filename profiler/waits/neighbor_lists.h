// SPDX-License-Identifier: BSD-3-Clause
// Whom this process receives from or sends to in neighbourhood collectives: ranks on the communicator, one
// list for each topology that differs. It waits for both: for what it receives, and, if the library does
// not send a message before its receive is posted, for those that it sends to. A collective is noted with
// the number of its list, because communicators that the registry counts as one kind may have different
// topologies.
//
// Memory: a list for each topology, and kMost ranks in all. Threading: add() from any thread; list()
// at the end. Cost: add() takes a lock, once for each communicator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom::profiler {

class NeighborLists {
 public:
  static constexpr std::int32_t kUnknown = -1;

  // The number of this list; kUnknown without memory or if there are too many.
  static std::int32_t add(std::vector<std::uint32_t> ranks) noexcept;

  // Null if there is none of this number.
  static const std::vector<std::uint32_t>* list(std::int32_t number);

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 20;
};

}  // namespace fathom::profiler

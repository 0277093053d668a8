// SPDX-License-Identifier: BSD-3-Clause
// The windows (path_windows.h) through which the processes of a world can follow a path together:
// those that all have opened equally often. They agree on them at MPI_Finalize, up and down the tree
// of processes; no process ever waits for one that has other windows.
#pragma once

#include <array>
#include <cstdint>

#include "profiler/openmpi/gather.h"
#include "profiler/waits/path_windows.h"

namespace fathom::profiler {

// At most kMostWindows; the number of a window is its place here plus 1, on every process.
struct AgreedWindows {
  std::array<const PathWindows::Window*, PathWindows::kMostWindows> windows{};
  std::size_t count = 0;

  const PathWindows::Window* const* begin() const { return windows.data(); }
  const PathWindows::Window* const* end() const { return windows.data() + count; }
};

// All processes of the world call it together, after PathWindows::close(), if any of them has windows.
// What they do not agree on becomes a note.
AgreedWindows agree_on_windows(Gather& gather, std::uint32_t rank) noexcept;

}  // namespace fathom::profiler

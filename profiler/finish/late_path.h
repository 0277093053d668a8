// SPDX-License-Identifier: BSD-3-Clause
// Follows the critical path when all other rows are at process 0, and adds its rows to these.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/waits/wait_rows.h"

namespace fathom::profiler {

// What goes with the rows of this process if process 0 follows the path alone; else nothing. Does not
// throw: without memory the path does not pass this process.
std::vector<char> time_line_for_path(const PathSearch& search) noexcept;

// All processes for which the search begins call it together, after Gather::collect(). Unless process 0
// follows the path alone, the processes that it passes send their part straight to process 0. Its
// `rows` are complete afterwards. Does not throw: without memory parts are missing.
void add_path(Gather& gather, std::uint32_t rank, const PathSearch& search,
              std::vector<char>& rows) noexcept;

}  // namespace fathom::profiler

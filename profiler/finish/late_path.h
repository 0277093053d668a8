// SPDX-License-Identifier: BSD-3-Clause
// Follows the critical path when all other rows are at process 0, and adds its rows to these.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/waits/wait_rows.h"

namespace fathom::profiler {

// All processes for which the search begins call it together, after Gather::collect(). The processes
// that the path passes send their part straight to process 0, whose `rows` are complete afterwards.
// Does not throw: without memory parts are missing.
void add_path(Gather& gather, std::uint32_t rank, const PathSearch& search,
              std::vector<char>& rows) noexcept;

}  // namespace fathom::profiler

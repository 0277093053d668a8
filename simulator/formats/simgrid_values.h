// SPDX-License-Identifier: BSD-3-Clause
// How SimGrid's platform files write values (SimGrid 3.32, "Platform description reference").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::simulator {

// "1.25GBps", "10Gbps" (bits), "125MiBps", "1e9" (bytes per second) as bytes per second.
base::Result<double> simgrid_bandwidth_Bps(const std::string& text);

// "50us", "1.5E-6s", "2ms", "0.1" (seconds) as seconds.
base::Result<double> simgrid_time_s(const std::string& text);

// "0-3,7" as 0 1 2 3 7.
base::Result<std::vector<std::uint32_t>> simgrid_radical(const std::string& text);

// "2;16,4;1,8;1,1" as lists of integers, each at least 1: {2}, {16, 4}, …
base::Result<std::vector<std::vector<std::uint32_t>>> simgrid_parameters(const std::string& text);

}  // namespace fathom::simulator

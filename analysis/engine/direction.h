// SPDX-License-Identifier: BSD-3-Clause
// The direction in which steps are visited.
#pragma once

#include <cstdint>

namespace fathom::analysis {

enum class Direction : std::uint8_t { kForward, kBackward };

}  // namespace fathom::analysis

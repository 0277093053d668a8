// SPDX-License-Identifier: BSD-3-Clause
// Which way steps are gone through.
#pragma once

#include <cstdint>

namespace fathom::analysis {

enum class Direction : std::uint8_t { kForward, kBackward };

}  // namespace fathom::analysis

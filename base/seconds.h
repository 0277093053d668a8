// SPDX-License-Identifier: BSD-3-Clause
// Nanoseconds as seconds.
#pragma once

#include <concepts>

namespace fathom::base {

template <typename Nanoseconds>
requires std::integral<Nanoseconds> || std::floating_point<Nanoseconds>
constexpr double seconds(Nanoseconds ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace fathom::base

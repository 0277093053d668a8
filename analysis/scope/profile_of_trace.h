// SPDX-License-Identifier: BSD-3-Clause
// The profile that a trace holds: for runs without one (imported traces), and for a window of time.
//
// A message counts where it was received, by the time of that; in a trace without receives, where
// it was sent. One-sided operations and IO whose data moved without messages are not in it. Message
// sizes are exact up to kExactSizes distinct ones a class, then log2 bins. Cost: one pass over the
// trace. Memory: the pairs that talked.
#pragma once

#include <cstddef>

#include "analysis/scope/input.h"
#include "profile/profile.h"

namespace fathom::analysis {

inline constexpr std::size_t kExactSizes = 4096;

// Of the scope, only the time is looked at.
profile::Profile profile_of_trace(const trace::Trace& trace, const Scope& scope);

}  // namespace fathom::analysis

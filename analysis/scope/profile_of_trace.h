// SPDX-License-Identifier: BSD-3-Clause
// Computes a profile from a trace: for runs without one (imported traces), and for a time window.
//
// A message counts where and when it was received; in a trace without receives, where it was sent.
// One-sided operations and IO whose data moved without messages are not included. Message sizes are
// exact for up to kExactSizes distinct sizes per class, then in log2 bins. Cost: one pass over the
// trace, or over the window where the trace has no named phases. Memory: the communicating pairs.
#pragma once

#include <cstddef>

#include "analysis/scope/event_choice.h"
#include "analysis/scope/input.h"
#include "profile/profile.h"

namespace fathom::analysis {

inline constexpr std::size_t kExactSizes = 4096;

// From the scope, the time window is used; the ranks choose message sizes, those of messages with one of
// them at an end. With a choice of events, a message counts if its send is chosen.
profile::Profile profile_of_trace(const trace::Trace& trace, const Scope& scope,
                                  const EventChoice* choice = nullptr);

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
// Restricts a profile to a Scope: its classes, communicators and phases, the pairs with a chosen
// rank at either end, and calls and waits of the chosen ranks. Critical paths stay whole.
//
// Message sizes are recorded by class for all ranks together, so any other choice leaves them
// empty, but for that of ranks where the sizes are of these ranks already (profile_of_trace.h). A
// profile has no moments, so from_ns and to_ns are ignored.
#pragma once

#include <cstdint>

#include "analysis/scope/input.h"
#include "base/result.h"
#include "profile/profile.h"

namespace fathom::analysis {

// An Error if the profile has no such phase or rank; it lists those that exist.
enum class Sizes { kOfAllRanks, kOfChosenRanks };
base::Result<profile::Profile> restrict_profile(profile::Profile profile, const Scope& scope,
                                                Sizes sizes = Sizes::kOfAllRanks);

// How many ranks of the run are chosen; at least one.
std::int64_t chosen_ranks(const profile::Profile& profile, const Scope& scope);

// The time of all chosen ranks together, the base of shares of time.
std::uint64_t all_ranks_ns(const profile::Profile& profile, const Scope& scope);

}  // namespace fathom::analysis

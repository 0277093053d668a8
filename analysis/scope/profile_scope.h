// SPDX-License-Identifier: BSD-3-Clause
// The part of a profile that a Scope means: its phase, and the pairs with a chosen rank at either
// end.
//
// Message sizes are kept for the whole run and all ranks together; a narrower scope leaves them
// empty. A profile has no times: from_ns and to_ns are not looked at.
#pragma once

#include "analysis/scope/input.h"
#include "base/result.h"
#include "profile/profile.h"

namespace fathom::analysis {

// An Error if the profile knows no such phase or rank; it names those there are.
base::Result<profile::Profile> restrict_profile(profile::Profile profile, const Scope& scope);

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
// Patterns that are not shapes of pairs: one root, how many pairs communicate at all, and short messages.
#pragma once

#include <optional>
#include <vector>

#include "analysis/scope/thresholds.h"
#include "analysis/traffic/class_traffic.h"
#include "analysis/traffic/patterns.h"
#include "profile/profile.h"

namespace fathom::analysis {

// A rooted collective that mostly has the same root. Its part of the whole traffic is left 0.
std::optional<Pattern> rooted_concentration(const ClassTraffic& traffic,
                                            const Thresholds& thresholds);

// Dense or sparse; not dense if `found` has an all-to-all of all ranks.
std::optional<Pattern> density_pattern(const profile::Profile& profile,
                                       const Thresholds& thresholds,
                                       const std::vector<Pattern>& found);

std::optional<Pattern> small_message_pattern(const profile::Profile& profile,
                                             const Thresholds& thresholds);

}  // namespace fathom::analysis

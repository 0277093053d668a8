// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/distance/scotch_mapping.h"

namespace fathom::simulator {

bool has_scotch() { return false; }

std::vector<Places> scotch_mappings(const PlaceCosts&) { return {}; }

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
// Every selection of hosts and every placement of processes on them: one row each. How to add one:
// docs/adding-a-simulator-part.md.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "simulator/placement/placement.h"

namespace fathom::simulator {

std::span<const SelectorRow> selectors();
std::span<const PlacementRow> placements();

// An Error lists the known names.
base::Result<const SelectorRow*> find_selector(std::string_view name);
base::Result<const PlacementRow*> find_placement(std::string_view name);

}  // namespace fathom::simulator

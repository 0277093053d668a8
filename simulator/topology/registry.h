// SPDX-License-Identifier: BSD-3-Clause
// Every topology: one row each. How to add one: docs/adding-a-simulator-part.md.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "simulator/topology/topology.h"

namespace fathom::simulator {

std::span<const TopologyRow> topologies();

// An Error lists the known names.
base::Result<const TopologyRow*> find_topology(std::string_view name);

}  // namespace fathom::simulator

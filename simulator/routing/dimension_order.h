// SPDX-License-Identifier: BSD-3-Clause
// Dimension order routing on a torus, a mesh or a HyperX: corrects the first coordinate first, then
// the second, and so on, on a torus in the shorter direction (upwards if both are equal; but see
// Grid). No search: the path follows from the coordinates. Inside machines (node_topology.h) it
// takes the shortest path.
#pragma once

#include "simulator/routing/routing.h"

namespace fathom::simulator {

// An Error unless the network has a Grid.
base::Result<std::unique_ptr<Router>> make_dimension_order(const Network& network,
                                                           const RouterOptions& options);

}  // namespace fathom::simulator

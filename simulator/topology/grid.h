// SPDX-License-Identifier: BSD-3-Clause
// Switches on a grid of any number of dimensions, each with the same number of hosts.
//
//   mesh:   neighbours along each dimension are linked
//   torus:  the first and the last of each row are linked too (rows of two keep their one cable)
//   hyperx: all switches of a row are linked (Ahn et al.: HyperX, SC 2009); with one dimension this
//           is a full mesh
//
// Switch s1.2.3 is at coordinates 1, 2, 3; hosts are numbered with the last coordinate running
// fastest. Level d of taper: the links along dimension d.
#pragma once

#include "simulator/topology/topology.h"

namespace fathom::simulator {

// Keys of all three: dims (a list), hosts per switch (1).
base::Result<Network> make_mesh(TopologyParameters& parameters);
base::Result<Network> make_torus(TopologyParameters& parameters);
base::Result<Network> make_hyperx(TopologyParameters& parameters);

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
// How well any routing could do: demands split over any number of ways, of any length, so that the
// largest congestion (bytes over capacity) is least; and a proof of how far from it the result may
// be.
//
// With link lengths l_e > 0 and dist_l the shortest distance under them, linear programming duality
// gives for every routing, split or not, with b_e on the links already:
//
//     largest congestion  >=  (sum_d bytes_d dist_l(d) + sum_e b_e l_e) / sum_e c_e l_e.
//
// Phase by phase all demands take the ways that are shortest under l_e = w_e / c_e, and w_e grows
// exponentially with what its link got (Fleischer: Approximating fractional multicommodity flow
// independent of the number of commodities, 2000); the result is the mean over the phases. Lengths
// only grow within a phase, so the bound holds with the distances met and the lengths at its end.
// It stops when bound and result are within 1 %, or after a number of phases that follows from the
// size; on some small networks 7 % are left then. The bound holds in any case. Links of hosts that
// have no choice do not count, as in LinkCosts.
#pragma once

#include "simulator/routing/routing.h"

namespace fathom::simulator {

base::Result<std::unique_ptr<Router>> make_optimal(const Network& network,
                                                   const RouterOptions& options);

}  // namespace fathom::simulator

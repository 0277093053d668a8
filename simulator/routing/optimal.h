// SPDX-License-Identifier: BSD-3-Clause
// How well any routing could do: splits demands over any number of paths of any length so that the
// largest congestion (bytes over capacity) is minimal, and proves how far the result may be from
// the optimum.
//
// Let l_e > 0 be link lengths, c_e capacities, dist_l the shortest distance under l, and b_e the
// bytes already on the links. By linear programming duality, every routing, split or not, has
//
//     largest congestion  >=  (sum_d bytes_d dist_l(d) + sum_e b_e l_e) / sum_e c_e l_e.
//
// In each phase all demands take the paths that are shortest under l_e = w_e / c_e, and w_e grows
// exponentially with the load of its link (Fleischer: Approximating fractional multicommodity flow
// independent of the number of commodities, 2000); the result is the mean over the phases. Lengths
// only grow within a phase, so the bound holds with the distances found during it and the lengths
// at its end. The search stops when bound and result are within 1 %, or after a number of phases
// that depends on the size; on some small networks a gap of up to 7.5 % remains. The bound holds in
// any case. Links of hosts that leave no choice do not count, as in LinkCosts.
#pragma once

#include "simulator/routing/routing.h"

namespace fathom::simulator {

base::Result<std::unique_ptr<Router>> make_optimal(const Network& network,
                                                   const RouterOptions& options);

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
// D-mod-K and S-mod-K: the choice at each hop follows from the number of the destination (or the
// source).
//
// Number the choices of a hop in order, and let P be the product of the numbers of choices at the
// hops before it. Host number d then takes choice
//
//     floor(d / P) mod (number of choices).
//
// On the way up an XGFT with w_l parents at level l this is floor(d / (w_1 … w_l)) mod w_(l+1), the
// rule of Zahavi (Fat-tree routing and node ordering providing contention free traffic for MPI
// global collectives, 2012, eq. 1). So all traffic to one host meets at the same root. The
// reference simulator takes d mod (number of choices) at every hop. That is the same on two levels;
// on three it uses only w of the w² roots.
#pragma once

#include "simulator/routing/routing.h"

namespace fathom::simulator {

base::Result<std::unique_ptr<Router>> make_dmodk(const Network& network,
                                                 const RouterOptions& options);
base::Result<std::unique_ptr<Router>> make_smodk(const Network& network,
                                                 const RouterOptions& options);

}  // namespace fathom::simulator

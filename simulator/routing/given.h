// SPDX-License-Identifier: BSD-3-Clause
// The routes that the cluster's description prescribes (network/given_routes.h), as a SimGrid
// platform does. They need not be shortest paths.
#pragma once

#include "simulator/routing/routing.h"

namespace fathom::simulator {

// An Error if the description prescribes none.
base::Result<std::unique_ptr<Router>> make_given(const Network& network,
                                                 const RouterOptions& options);

}  // namespace fathom::simulator

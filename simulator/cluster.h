// A cluster as the user names it, turned into a network.
#pragma once

#include <string>

#include "base/result.h"
#include "simulator/network.h"

namespace fathom::simulator {

// `cluster` is a specification of a topology ("torus:dims=4,4,4", see topology.h) or a file.
base::Result<Network> load_cluster(const std::string& cluster);

}  // namespace fathom::simulator

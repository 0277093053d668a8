// A cluster as the user names it, turned into a network.
#pragma once

#include <string>

#include "base/result.h"
#include "simulator/network.h"

namespace fathom::simulator {

// `cluster` is a file: GraphML.
base::Result<Network> load_cluster(const std::string& cluster);

}  // namespace fathom::simulator

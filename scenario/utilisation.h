// How much of each link's capacity was in use over time, as CSV: source,target,from_s,to_s,utilisation.
// Intervals in which a link carried nothing are left out.
#pragma once

#include <string>

#include "base/result.h"
#include "simulator/link_usage.h"
#include "simulator/network.h"

namespace fathom::scenario {

base::Status write_utilisation(const simulator::Network& network, const simulator::LinkUsage& usage,
                               const std::string& path);

}  // namespace fathom::scenario

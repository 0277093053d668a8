// SPDX-License-Identifier: BSD-3-Clause
// Utilisation of each link over time, as CSV: source,target,from_s,to_s,utilisation. Intervals in
// which a link carried nothing are left out.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "simulator/flow/link_usage.h"
#include "simulator/network/network.h"
#include "simulator/run/one_job_time.h"

namespace fathom::scenario {

base::Status write_utilisation(const simulator::Network& network, const simulator::LinkUsage& usage,
                               const std::string& path);

// Number of waiting ranks in a replay over time: from_s,to_s,waiting_ranks.
base::Status write_waiting(const std::vector<simulator::Waiting>& waiting, const std::string& path);

}  // namespace fathom::scenario

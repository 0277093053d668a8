// SPDX-License-Identifier: BSD-3-Clause
// Processes that outnumbered their processors: a process that seems to wait may only be waiting to
// be scheduled.
#pragma once

#include <string>
#include <vector>

#include "trace/definitions.h"

namespace fathom::analysis {

// One sentence for each host that ran more processes than they were together allowed processors
// (Process::affinity). Hosts are in the order of their first rank.
std::vector<std::string> shared_processors(const trace::Definitions& definitions);

}  // namespace fathom::analysis

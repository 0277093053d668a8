// SPDX-License-Identifier: BSD-3-Clause
// Processes that had fewer processors than they were: what one of them seems to wait for may be its
// turn.
#pragma once

#include <string>
#include <vector>

#include "trace/definitions.h"

namespace fathom::analysis {

// A sentence for each host on which more processes ran than the processors that they were allowed
// to run on, all together (Process::affinity). Hosts in the order of their first rank.
std::vector<std::string> shared_processors(const trace::Definitions& definitions);

}  // namespace fathom::analysis

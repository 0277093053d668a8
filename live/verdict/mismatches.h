// SPDX-License-Identifier: BSD-3-Clause
// Members of one communicator whose collectives do not fit together: other functions, roots or sizes at the same
// place in the communicator's sequence (MPI 4.1, section 6.1.2: the same order, the same root, the same
// amount of data).
#pragma once

#include <optional>

#include "live/verdict/verdict.h"
#include "live/verdict/wait_graph.h"

namespace fathom::live {

// The first one, by communicator and place; only of threads that wait.
std::optional<Verdict> find_mismatch(const WaitGraph& graph);

// A collective to which all members have come, which some have left, and in which others wait and no message moves: as
// far as can be seen from outside, their counts do not fit together. Only of jobs that nothing else explains. `hung` after
// `patience_s`, because a large message may be on its way.
std::optional<Verdict> find_abandoned(const WaitGraph& graph, double patience_s);

}  // namespace fathom::live

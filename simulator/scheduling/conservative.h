// SPDX-License-Identifier: BSD-3-Clause
// Conservative backfill (A. Mu'alem, D. Feitelson, Utilization, predictability, workloads, and user
// runtime estimates in scheduling the IBM SP2 with backfilling, IEEE TPDS 12(6), 2001): every job
// gets a reservation when it arrives, the earliest that moves none made before. A later job may
// start first only where that delays nobody.
//
// When a job ends sooner than it asked for, the others are moved forward, one after the other in
// order of arrival, each as far as the rest permits: no reservation ever moves back, unless a
// running job outlives its request.
#pragma once

#include <memory>

#include "simulator/scheduling/scheduler.h"

namespace fathom::simulator {

// Cost of next(): O(queue * (queue + running)).
std::unique_ptr<Scheduler> make_conservative();

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
// Conservative backfill (A. Mu'alem, D. Feitelson, Utilization, predictability, workloads, and user
// runtime estimates in scheduling the IBM SP2 with backfilling, IEEE TPDS 12(6), 2001): every job
// gets a reservation on arrival, the earliest that moves no other. A later job may start first only
// if that delays nobody.
//
// When a job ends sooner than requested, the others move forward one by one in order of arrival,
// each as far as the rest permits. A reservation never moves back, unless a running job exceeds its
// request.
#pragma once

#include <memory>

#include "simulator/scheduling/scheduler.h"

namespace fathom::simulator {

// Cost of next(): O(queue * (queue + running)).
std::unique_ptr<Scheduler> make_conservative();

}  // namespace fathom::simulator

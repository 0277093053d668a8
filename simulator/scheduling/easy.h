// SPDX-License-Identifier: BSD-3-Clause
// EASY backfill (D. Lifka, The ANL/IBM SP scheduling system, JSSPP 1995): first come, first served,
// but while the first job in the queue waits, later jobs may start if they do not delay it.
//
// If the running jobs end as requested, the first job can start at the shadow time, the earliest
// time at which its slots are free; the slots left over then are the extra slots. A later job may
// start now if it ends by the shadow time, or takes no more than the extra slots. Jobs other than
// the first may be delayed.
#pragma once

#include <memory>

#include "simulator/scheduling/scheduler.h"

namespace fathom::simulator {

// Cost of next(): O(queue + running log(running)).
std::unique_ptr<Scheduler> make_easy();

}  // namespace fathom::simulator

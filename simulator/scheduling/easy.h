// SPDX-License-Identifier: BSD-3-Clause
// EASY backfill (D. Lifka, The ANL/IBM SP scheduling system, JSSPP 1995): first come, first served,
// but while the first in the queue waits, later jobs may start that do not delay it.
//
// With the running jobs ending as they asked, the first job can start at the shadow time, the
// earliest at which its slots are free; the slots then left over are the extra ones. A later job
// may start now if it ends by the shadow time, or takes no more than the extra slots. Others than
// the first in the queue may be delayed.
#pragma once

#include <memory>

#include "simulator/scheduling/scheduler.h"

namespace fathom::simulator {

// Cost of next(): O(queue + running log(running)).
std::unique_ptr<Scheduler> make_easy();

}  // namespace fathom::simulator

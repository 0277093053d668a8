// SPDX-License-Identifier: BSD-3-Clause
// First come, first served: a job starts once all earlier jobs have started and its slots are free.
#pragma once

#include <memory>

#include "simulator/scheduling/scheduler.h"

namespace fathom::simulator {

std::unique_ptr<Scheduler> make_fcfs();

}  // namespace fathom::simulator

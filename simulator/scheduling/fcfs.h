// SPDX-License-Identifier: BSD-3-Clause
// First come, first served: a job starts when all that came before have and its slots are free.
#pragma once

#include <memory>

#include "simulator/scheduling/scheduler.h"

namespace fathom::simulator {

std::unique_ptr<Scheduler> make_fcfs();

}  // namespace fathom::simulator

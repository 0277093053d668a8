// SPDX-License-Identifier: BSD-3-Clause
// Every scheduler: one row each. How to add one: docs/adding-a-simulator-part.md.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "simulator/scheduling/scheduler.h"

namespace fathom::simulator {

std::span<const SchedulerRow> schedulers();

// An Error lists the known names.
base::Result<const SchedulerRow*> find_scheduler(std::string_view name);

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/scheduling/registry.h"

#include "base/named_rows.h"
#include "simulator/scheduling/conservative.h"
#include "simulator/scheduling/easy.h"
#include "simulator/scheduling/fcfs.h"

namespace fathom::simulator {
namespace {

constexpr SchedulerRow kSchedulers[] = {
    {"fcfs", "in order of arrival", make_fcfs},
    {"easy", "later jobs may start first if they do not delay the first in the queue", make_easy},
    {"conservative", "later jobs may start first if they delay no job that came before",
     make_conservative},
};

}  // namespace

std::span<const SchedulerRow> schedulers() { return kSchedulers; }

base::Result<const SchedulerRow*> find_scheduler(std::string_view name) {
  return base::find_row(schedulers(), "scheduler", name);
}

}  // namespace fathom::simulator

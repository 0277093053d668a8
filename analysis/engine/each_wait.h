// SPDX-License-Identifier: BSD-3-Clause
// Every call of a process that waited for another, the last first (analysis/engine/call_wait.h).
#pragma once

#include <cstdint>

#include "analysis/engine/call_wait.h"

namespace fathom::analysis {

// told(call, wait): the kCall step and its wait, which is not 0. Of an own process. Memory: calls
// under way.
template <typename Told>
void for_each_wait(const JoinedJob& job, std::uint32_t process, Told told) {
  const StepFile& steps = job.steps();
  OpenWaits open(job, process);
  // Backward: what a call completed is met before the call.
  for (std::uint32_t number = steps.size(process); number-- > 0;) {
    if (number % StepFile::kBlockSteps == 0) job.steps().touched(StepFile::kBlockSteps);
    const Step& step = steps.at(process, number);
    if (step.kind != StepKind::kCall) {
      open.add(number, step);
    } else if (const CallWait* const wait = open.find(number)) {
      const Wait found = wait->wait();
      open.close(number);
      if (found.ns > 0) told(step, found);
    }
  }
}

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
// Every wait of a process for another, the last first (analysis/engine/call_wait.h).
#pragma once

#include <cstdint>

#include "analysis/engine/call_wait.h"

namespace fathom::analysis {

// Calls visit(call, wait) with each kCall step that waited, and its wait; at least of the calls that touch
// [from_ns, to_ns). `process` must be an own one. Memory: open calls. Threading: threads may do this at once.
template <typename Visit>
void for_each_wait(const JoinedJob& job, std::uint32_t process, Visit visit,
                   std::uint64_t from_ns = 0, std::uint64_t to_ns = ~std::uint64_t{0}) {
  const StepFile& steps = job.steps();
  const StepRange range = job.steps_in(process, from_ns, to_ns);
  OpenWaits open(job, process);
  // Backward: the completion of an operation comes before the call that completed it.
  for (std::uint32_t number = range.end; number-- > range.begin;) {
    if (number % StepFile::kBlockSteps == 0) job.steps().touched(StepFile::kBlockSteps);
    const Step& step = steps.at(process, number);
    if (step.kind != StepKind::kCall) {
      open.add(number, step);
    } else if (const CallWait* const wait = open.find(number)) {
      const Wait found = wait->wait();
      open.close(number);
      if (found.ns > 0) visit(step, found);
    }
  }
}

}  // namespace fathom::analysis

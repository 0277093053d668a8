// Every call of a process that waited for another, the last first (replay/call_wait.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/replay/call_wait.h"

namespace fathom::analysis {

// told(call, wait): the kCall step and its wait, which is not 0. Of an own process. Memory: calls under way.
template <typename Told>
void for_each_wait(const JoinedJob& job, std::uint32_t process, Told told) {
  const StepFile& steps = job.steps();
  std::vector<CallWait> open;
  const auto of = [&](std::uint32_t call) {
    return std::find_if(open.begin(), open.end(), [&](const CallWait& wait) { return wait.call() == call; });
  };
  // Backward: what a call completed is met before the call.
  for (std::uint32_t number = steps.size(process); number-- > 0;) {
    if (number % StepFile::kBlockSteps == 0) job.steps().touched(StepFile::kBlockSteps);
    const Step& step = steps.at(process, number);
    if (step.kind != StepKind::kCall) {
      if (step.call == kNobody || step.kind == StepKind::kLost) continue;
      auto wait = of(step.call);
      if (wait == open.end()) wait = open.emplace(open.end(), job, process, step.call);
      wait->add(number, step);
    } else if (const auto wait = of(number); wait != open.end()) {
      const Wait found = wait->wait();
      open.erase(wait);
      if (found.ns > 0) told(step, found);
    }
  }
}

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
// The first of the two passes that find the waits of a job (wait_steps.h): forward, each process
// for itself.
#pragma once

#include <cstdint>

#include "analysis/engine/joined_job.h"

namespace fathom::analysis {

// Where two processes last met, as one of them knows it.
struct Meeting {
  std::uint32_t own_call = kNobody;
  std::uint32_t others_step = kNobody;
};

constexpr std::uint64_t packed(const Meeting& meeting) {
  return std::uint64_t{meeting.own_call} << 32 | meeting.others_step;
}
constexpr Meeting unpacked(std::uint64_t note) {
  return {static_cast<std::uint32_t>(note >> 32), static_cast<std::uint32_t>(note)};
}

// Finds the waits, and writes into the steps: `note` of a call, how long its thread had waited when
// it was left; `call` of a call, the last collective of all processes before it on that thread;
// `note` of the step that decided a wait, where that thread and the other process had last met;
// `blamed` of a call, how many waits were for what it did. Threads of one process wait beside each
// other, so each has a line of its own: waits of one say nothing of how busy another was.
// Collective over the job's transport.
void note_waits(JoinedJob& job);

}  // namespace fathom::analysis

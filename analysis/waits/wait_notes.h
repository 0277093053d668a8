// SPDX-License-Identifier: BSD-3-Clause
// The first of two passes that find the waits of a job (wait_steps.h): forward, each process on its
// own.
#pragma once

#include <cstdint>

#include "analysis/engine/joined_job.h"

namespace fathom::analysis {

// Where two processes last met, as known to one of them.
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

// Finds the waits and stores in the steps:
//
//   `note` of a call             how long its thread had waited by the time the call was left
//   `call` of a call             the last collective of all processes before it on that thread
//   `note` of a deciding step    where that thread and the other process had last met
//   `blamed` of a call           how many waits were for what it did
//
// Threads of one process wait independently, so each has its own record: one thread's waits say
// nothing about how busy another was. Collective over the job's transport.
void note_waits(JoinedJob& job);

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
// Which functions wait in a way that only a trace shows: what they wait for has no place in the orders
// that a process counts without one (profiler/waits/wait_log.h).
#pragma once

#include "mpi/meaning.h"

namespace fathom::mpi {

// Also of a function that makes a request, if this holds for the call that completes it.
constexpr bool waits_only_in_traces(const Meaning& function) {
  if (function.epoch != Epoch::kNone) return function.epoch != Epoch::kPost;
  if (function.lock == LockStep::kLock || function.lock == LockStep::kUnlock) return true;
  // MPI_Parrived.
  if (function.polls && function.completes == Completes::kNothing &&
      function.sees == Completes::kNothing && function.group != Group::kProbe)
    return true;
  // MPI_File_iwrite_all.
  if (function.sequence == Sequence::kFile && function.requests != Requests::kNone) return true;
  // MPI_Psend_init, MPI_Precv_init.
  return function.persistent() && function.group == Group::kOther &&
         function.collective == Collective::kNone;
}

}  // namespace fathom::mpi

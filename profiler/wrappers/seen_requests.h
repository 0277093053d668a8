// SPDX-License-Identifier: BSD-3-Clause
// Requests that a call says to be complete, and leaves to another that completes them:
// MPI_Request_get_status and its like, as the generated wrappers that time calls use it.
#pragma once

#include "profiler/calls/timed_call.h"
#include "profiler/openmpi/mpi.h"
#include "profiler/openmpi/standard_abi.h"
#include "profiler/sources/receive_requests.h"

namespace fathom::profiler {

// A loop of such calls has waited for these. On the thread of the call, before it leaves.
inline void saw_complete(int count, const MPI_Request* requests) {
  if (!WaitLog::on() || requests == nullptr) return;
  for (int i = 0; i < count; ++i) {
    void* const request = native(requests[i]);
    if (request == nullptr || WaitLog::saw_complete(request)) continue;
    receive_requests::saw_complete(request);
  }
}
// The same for those of them with these indices.
inline void saw_complete(int count, const MPI_Request* requests, int found, const int* indices) {
  if (indices == nullptr || requests == nullptr) return;
  for (int i = 0; i < found; ++i)  // MPI_UNDEFINED is negative
    if (indices[i] >= 0 && indices[i] < count) saw_complete(1, requests + indices[i]);
}

}  // namespace fathom::profiler

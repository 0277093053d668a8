// SPDX-License-Identifier: BSD-3-Clause
// How many MPI calls this thread is in, one inside the other: 0 in the program, 1 in a call of the program, more
// where the MPI library, or a callback of the program, calls MPI.
#pragma once

namespace fathom::profiler {

inline int& call_depth() {
  static thread_local int calls __attribute__((tls_model("initial-exec"))) = 0;
  return calls;
}

}  // namespace fathom::profiler

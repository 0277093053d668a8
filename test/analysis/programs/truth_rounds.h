// SPDX-License-Identifier: BSD-3-Clause
// Rounds of a case whose waits are known, each in the phase "truth". A test looks at this phase alone, so the barrier
// that brings the ranks together, and what is prepared, are in front of it.
#pragma once

#include <mpi.h>

#include "cases.h"
#include "profiler/fathom.h"

// `prepare`: called before each round; may be NULL. Does nothing without a case.
static inline void run_rounds(const struct Case* chosen, int rounds, void (*prepare)(void)) {
  for (int round = 0; chosen != NULL && round < rounds; round++) {
    if (prepare != NULL) prepare();
    MPI_Barrier(MPI_COMM_WORLD);
    fathom_phase_begin("truth");
    chosen->run();
    fathom_phase_end();
  }
}

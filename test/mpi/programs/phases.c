// SPDX-License-Identifier: BSD-3-Clause
// Named phases: the matrices of each are kept apart, a phase that comes again continues, and the
// program runs unchanged without the library.
#include "../expect.h"
#include "profiler/fathom.h"

static char out[10000], in[10000];

static void exchange(MPI_Comm comm, int size) {
  int rank, count;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &count);
  MPI_Sendrecv(out, size, MPI_BYTE, (rank + 1) % count, 0, in, 10000, MPI_BYTE, MPI_ANY_SOURCE, 0,
               comm, MPI_STATUS_IGNORE);
  expect_message(comm, (rank + 1) % count, size, 1);
}

// Nobody is still in the phase before when the next begins. The barrier is of the phase it starts
// in.
static void begin(const char* name) {
  fathom_phase_begin(name);
  expect_phase(name);
}
static void end(void) {
  fathom_phase_end();
  expect_phase("");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  expect_may("library");
  MPI_Comm dup;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  expect_label(dup, "MPI_Comm_dup");
  exchange(MPI_COMM_WORLD, 5);
  for (int step = 0; step < 3; step++) {
    begin("assemble");
    exchange(MPI_COMM_WORLD, 100);
    exchange(dup, 3000);
    end();
    begin("solve");
    exchange(MPI_COMM_WORLD, 200 + step);
    MPI_Barrier(MPI_COMM_WORLD);
    expect_collective("MPI_Barrier", MPI_COMM_WORLD, kBarrier, 0, 0, 1);
    end();
    exchange(MPI_COMM_WORLD, 7);
  }
  begin("a phase with spaces, \"quotes\" and \xc3\xa9");
  exchange(dup, 9);
  end();
  // Nested: the inner one counts, then the outer one again.
  begin("outer");
  exchange(dup, 21);
  fathom_phase_begin("inner");
  expect_phase("inner");
  exchange(dup, 22);
  fathom_phase_end();
  expect_phase("outer");
  exchange(dup, 23);
  end();
  begin("empty");
  end();
  MPI_Comm_free(&dup);
  report_ok("phases");
  MPI_Finalize();
  return 0;
}

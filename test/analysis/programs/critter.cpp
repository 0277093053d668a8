// SPDX-License-Identifier: BSD-3-Clause
// A program that was written for critter, with Fathom's header in place of critter's: two openings
// of its window, and two of its kernels.
#include <fathom_critter.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  critter::init(argc);
  critter::start(1);
  CRITTER_START(factor)
  MPI_Barrier(MPI_COMM_WORLD);
  CRITTER_STOP(factor)
  critter::stop(1, 2);
  critter::record();
  critter_start(MPI_COMM_WORLD);
  critter_start_timer("solve");
  MPI_Barrier(MPI_COMM_WORLD);
  critter_stop_timer("solve");
  critter_stop();
  MPI_Finalize();
  return 0;
}

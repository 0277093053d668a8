// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into HPCC: times PTRANS's first transposition as PTRANS itself does, then ends the
// program. HPCC cannot run just one of its tests, and each further transposition has a different
// grid of processes.
//
// The grid is drawn from the time of day; time() here always returns the same value, so that every
// run draws the same grid.
//
// PTRANS times a transposition between a barrier on its grid's communicator and the first reduction
// after it (PTRANS/pdtransdriver.c). This interval is the phase "transposition", so that it can be
// traced alone. Rank 0 prints "seconds S", the slowest rank's time; each rank prints where it ran.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "profiler/fathom.h"

static double began = -1;

time_t time(time_t* result) {
  const time_t drawn = 3;  // a grid for which block placement is poor
  if (result) *result = drawn;
  return drawn;
}

int MPI_Barrier(MPI_Comm communicator) {
  const int result = PMPI_Barrier(communicator);
  if (communicator == MPI_COMM_WORLD) return result;
  fathom_phase_begin("transposition");
  began = PMPI_Wtime();
  return result;
}

static void end_of_transposition(void) {
  char host[MPI_MAX_PROCESSOR_NAME];
  int rank = 0, length = 0;
  if (began < 0) return;
  double seconds = PMPI_Wtime() - began;
  fathom_phase_end();
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Get_processor_name(host, &length);
  PMPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("seconds %.6f\n", seconds);
  printf("rank %d on %s\n", rank, host);
  fflush(stdout);
  MPI_Finalize();
  exit(0);
}

int MPI_Allreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm communicator) {
  end_of_transposition();
  return PMPI_Allreduce(out, in, count, type, op, communicator);
}

int MPI_Reduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm communicator) {
  end_of_transposition();
  return PMPI_Reduce(out, in, count, type, op, root, communicator);
}

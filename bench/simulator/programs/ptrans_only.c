// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into HPCC: times PTRANS's first transposition as PTRANS itself does, and ends the
// program after it. HPCC cannot be told to run one of its tests alone, and each further
// transposition has another grid of processes.
//
// The grid is drawn from the time of day: time() is made to stand still, so that every run draws
// the same.
//
// PTRANS times a transposition between a barrier on the communicator of its grid and the first
// reduction after it (PTRANS/pdtransdriver.c). That is the phase "transposition", so that it alone
// can be traced. Rank 0 prints "seconds S", the slowest rank's; each rank where it ran.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "profiler/fathom.h"

static double began = -1;

time_t time(time_t* result) {
  const time_t drawn = 3;  // a grid that block placement suits ill
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

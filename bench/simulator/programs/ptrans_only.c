// Preloaded into HPCC: times each of PTRANS's transpositions as PTRANS itself does, and ends the program
// after some of them. HPCC cannot be told to run one of its tests alone.
//
// PTRANS times its transposition between a barrier on the communicator of its grid of processes and the
// first reduction after it (PTRANS/pdtransdriver.c). The first is the phase "transposition", so that it alone
// can be traced. Rank 0 prints "seconds S", the slowest rank's, the median of all; each rank where it ran.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "profiler/fathom.h"

enum { kTranspositions = 10 };

static double began = -1, seconds[kTranspositions];
static int done;

int MPI_Barrier(MPI_Comm communicator) {
  const int result = PMPI_Barrier(communicator);
  if (communicator == MPI_COMM_WORLD) return result;
  if (done == 0) fathom_phase_begin("transposition");
  began = PMPI_Wtime();
  return result;
}

static int ascending(const void* one, const void* other) {
  const double difference = *(const double*)one - *(const double*)other;
  return difference > 0 ? 1 : difference < 0 ? -1 : 0;
}

static void report_and_end(void) {
  char host[MPI_MAX_PROCESSOR_NAME];
  int rank = 0, length = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Get_processor_name(host, &length);
  PMPI_Allreduce(MPI_IN_PLACE, seconds, done, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  qsort(seconds, (size_t)done, sizeof(double), ascending);
  if (rank == 0) printf("seconds %.6f\n", seconds[done / 2]);
  printf("rank %d on %s\n", rank, host);
  fflush(stdout);
  MPI_Finalize();
  exit(0);
}

static void end_of_transposition(void) {
  if (began < 0) return;
  seconds[done] = PMPI_Wtime() - began;
  if (done == 0) fathom_phase_end();
  began = -1;
  if (++done == kTranspositions) report_and_end();
}

int MPI_Allreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm communicator) {
  end_of_transposition();
  return PMPI_Allreduce(out, in, count, type, op, communicator);
}

int MPI_Reduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm communicator) {
  end_of_transposition();
  return PMPI_Reduce(out, in, count, type, op, root, communicator);
}

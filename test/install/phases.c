/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends in a named phase, with nothing of Fathom but its installed header. */
#include <fathom.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, out = 7, in = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fathom_phase_begin("exchange");
  MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, 5, &in, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  fathom_phase_end();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("received %d\n", in);
  MPI_Finalize();
  return 0;
}

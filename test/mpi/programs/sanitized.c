// SPDX-License-Identifier: BSD-3-Clause
// Sends a ring of messages, and with an argument writes one byte too many; for programs built with
// a sanitizer.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char *sent = malloc(1000), *got = malloc(1000);
  memset(sent, rank, 1000);
  for (int i = 0; i < 20; ++i) {
    MPI_Sendrecv(sent, 1000, MPI_BYTE, (rank + 1) % size, 0, got, 1000, MPI_BYTE,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  int sum = got[999];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\n", sum);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1) got[1000] = 1;
  free(sent);
  free(got);
  MPI_Finalize();
  return 0;
}

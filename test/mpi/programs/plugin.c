// SPDX-License-Identifier: BSD-3-Clause
// A plug-in that is linked with MPI, for dlopens.c.
#include <mpi.h>
#include <stdio.h>

int run(int* argc, char*** argv) {
  int rank, size, one = 1, all = 0;
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("plugin: %d of %d ranks\n", all, size);
  MPI_Finalize();
  return all == size ? 0 : 3;
}

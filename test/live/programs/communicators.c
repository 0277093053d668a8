// SPDX-License-Identifier: BSD-3-Clause
// Makes and frees communicators, and sends on each, until FILE exists: usage: communicators FILE
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { kAtOnce = 8 };

int main(int argc, char** argv) {
  int rank, size, go_on = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  while (go_on) {
    MPI_Comm made[kAtOnce];
    for (int i = 0; i < kAtOnce; ++i) {
      int number = i;
      MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
      MPI_Sendrecv_replace(&number, 1, MPI_INT, (rank + 1) % size, i, (rank + size - 1) % size, i,
                           made[i], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < kAtOnce; ++i) MPI_Comm_free(&made[i]);
    int stop = rank == 0 && access(argv[1], F_OK) == 0;
    MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
    go_on = !stop;
  }
  MPI_Finalize();
  if (rank == 0) puts("done");
  return 0;
}

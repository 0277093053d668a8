// SPDX-License-Identifier: BSD-3-Clause
// Ends without MPI_Finalize in ways that once left no profile.
//   leaves vfork    a failed vfork and exec, then exit
//   leaves alarm    SIGALRM with its default action
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, size, value = 7;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Sendrecv_replace(&value, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (argc > 1 && !strcmp(argv[1], "vfork")) {
    if (vfork() == 0) {
      execl("/nonexistent", "nonexistent", (char*)NULL);
      _exit(127);
    }
    exit(5);
  }
  raise(SIGALRM);
  return 0;
}

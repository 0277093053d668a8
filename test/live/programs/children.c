// SPDX-License-Identifier: BSD-3-Clause
// Says what a program can see of processes that were started behind its back: SIGCHLD and children.
// usage: children
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void count(int number) {
  (void)number;
  ++signals;
}

int main(int argc, char** argv) {
  signal(SIGCHLD, count);
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  usleep(100000);
  const int child = waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD;
  int own[2] = {signals, child}, all[2];
  MPI_Reduce(own, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d signals, %d children\n", all[0], all[1]);
  MPI_Finalize();
  return 0;
}

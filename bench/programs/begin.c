// SPDX-License-Identifier: BSD-3-Clause
// usage: begin            prints how long MPI_Init takes in the slowest rank, in nanoseconds
//        begin hang FILE  then makes FILE and hangs: each rank waits for a message of the one before it
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

int main(int argc, char** argv) {
  int rank, size, number = 0;
  const double began = now_ns();
  MPI_Init(&argc, &argv);
  const double taken = now_ns() - began;
  double longest;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Reduce(&taken, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.0f\n", longest);
  if (argc > 2 && strcmp(argv[1], "hang") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) fclose(fopen(argv[2], "w"));
    MPI_Recv(&number, 1, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}

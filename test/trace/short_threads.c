// SPDX-License-Identifier: BSD-3-Clause
// COUNT threads one after the other in each process, each of which exchanges one byte with the
// threads of the neighbours: what a trace holds of threads that soon end.
//
//   short_threads COUNT
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void* exchange(void* ignored) {
  char out = 1, in;
  MPI_Sendrecv(&out, 1, MPI_BYTE, (rank + 1) % size, 5, &in, 1, MPI_BYTE, (rank + size - 1) % size,
               5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return ignored;
}

int main(int argc, char** argv) {
  int provided;
  if (argc != 2) return 2;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) return 3;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < atoi(argv[1]); ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, exchange, NULL) != 0) return 4;
    pthread_join(thread, NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("short_threads: over\n");
  MPI_Finalize();
  return 0;
}

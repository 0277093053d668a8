// SPDX-License-Identifier: BSD-3-Clause
// Three threads of each rank communicate at the same time, each on a communicator of its own, until
// FILE exists. usage: threads FILE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { kThreads = 3 };

static const char* file;
static int rank, size;

static void* exchange(void* given) {
  const MPI_Comm comm = *(MPI_Comm*)given;
  for (int go_on = 1; go_on;) {
    int sent = rank, received = -1;
    MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, 3, &received, 1, MPI_INT,
                 (rank + size - 1) % size, 3, comm, MPI_STATUS_IGNORE);
    int stop = rank == 0 && access(file, F_OK) == 0;
    MPI_Bcast(&stop, 1, MPI_INT, 0, comm);
    go_on = !stop;
    usleep(200);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE || argc < 2) return 1;
  file = argv[1];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comms[kThreads];
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, exchange, &comms[i]);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  if (rank == 0) puts("done");
  return 0;
}

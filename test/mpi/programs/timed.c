// SPDX-License-Identifier: BSD-3-Clause
// Calls whose number, place and bytes are known, for timed_calls.py: in phases, while counting is
// paused, inside another call, and from several threads at once.
//
// usage: timed [abort]
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "profiler/fathom.h"

enum { kThreads = 4, kRounds = 25 };

static int rank, size;

// The reduction asks for its rank: a call inside a call.
static MPI_Request open_request;

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  int inner, found;
  (void)type;
  MPI_Comm_rank(MPI_COMM_WORLD, &inner);
  MPI_Test(&open_request, &found, MPI_STATUS_IGNORE);
  for (int i = 0; i < *count; i++) ((int*)inout)[i] += ((int*)in)[i];
}

static void ring(MPI_Comm comm, int bytes) {
  static char out[1000], in[1000];
  MPI_Request request;
  MPI_Irecv(in, sizeof in, MPI_BYTE, (rank + size - 1) % size, 1, comm, &request);
  MPI_Send(out, bytes, MPI_BYTE, (rank + 1) % size, 1, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void* talk(void* number) {
  const int tag = 100 + (int)(long)number;
  char out = 0, in;
  for (int i = 0; i < kRounds; i++) {
    MPI_Sendrecv(&out, 1, MPI_CHAR, (rank + 1) % size, tag, &in, 1, MPI_CHAR,
                 (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm dup;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  for (int i = 0; i < 3; i++) {
    fathom_phase_begin("rings");
    ring(MPI_COMM_WORLD, 10);
    ring(dup, 20);
    fathom_phase_end();
  }
  MPI_Pcontrol(0);
  ring(dup, 30);
  MPI_Pcontrol(1);
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  int mine = 1, all = 0;
  char out = 0, in;
  MPI_Irecv(&in, 1, MPI_CHAR, rank, 200, MPI_COMM_WORLD, &open_request);
  MPI_Allreduce(&mine, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
  MPI_Send(&out, 1, MPI_CHAR, rank, 200, MPI_COMM_WORLD);
  MPI_Wait(&open_request, MPI_STATUS_IGNORE);
  MPI_Op_free(&op);
  // One after the other: a thread takes over the tables of one that has ended.
  for (int wave = 0; wave < 3; wave++) {
    pthread_t threads[kThreads];
    for (long i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, talk, (void*)i);
    for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  }
  if (argc > 1 && strcmp(argv[1], "abort") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Comm_free(&dup);
  if (rank == 0) printf("%d ranks\n", all);
  MPI_Finalize();
  return 0;
}

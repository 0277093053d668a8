// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE with four threads: point-to-point on a shared communicator, and at the same
// time collectives on communicators of their own. No message may slip into another thread's class.
#include "../expect.h"

#include <pthread.h>

enum { kThreads = 4, kMessages = 300, kCollectives = 60 };
static const int sizes[] = {0, 8, 257, 5000, 100000};
static MPI_Comm own[kThreads];

static void* exchange(void* argument) {
  int me = (int)(long)argument;
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  char *out = malloc(100000), *in = malloc(100000);
  for (int i = 0; i < kMessages; i++) {
    int size = sizes[(i + me) % (i % 50 == 0 ? 5 : 4)];
    MPI_Request request;
    MPI_Status status;
    int count;
    fill(out, (size_t)size, (unsigned)(me + i));
    MPI_Isend(out, size, MPI_BYTE, next, me, MPI_COMM_WORLD, &request);
    MPI_Recv(in, 100000, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : previous, me, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    require(count == size && status.MPI_SOURCE == previous);
    verify(in, (size_t)size, (unsigned)(me + i));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_message(MPI_COMM_WORLD, next, size, 1);
  }
  free(out);
  free(in);
  return NULL;
}

static void* collectives(void* argument) {
  int me = (int)(long)argument;
  MPI_Comm comm = own[me];
  int values[100], sums[100];
  for (int i = 0; i < kCollectives; i++) {
    for (int j = 0; j < 100; j++) values[j] = world_rank + j;
    if (me == 0) MPI_Barrier(comm);
    if (me == 1) {
      MPI_Allreduce(values, sums, 100, MPI_INT, MPI_SUM, comm);
      require(sums[5] == world_size * (world_size - 1) / 2 + 5 * world_size);
    }
    if (me == 2) MPI_Bcast(values, 100, MPI_INT, i % world_size, comm);
    if (me == 3) {
      MPI_Request request;
      MPI_Iallreduce(values, sums, 100, MPI_INT, MPI_SUM, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  if (me == 0) {
    expect_collective("MPI_Barrier", comm, kBarrier, 0, 0, kCollectives);
    expect_no_bytes("MPI_Barrier", comm);
  }
  if (me == 1) expect_collective("MPI_Allreduce", comm, kAllreduce, 0, 400, kCollectives);
  if (me == 2)
    for (int i = 0; i < kCollectives; i++)
      expect_collective("MPI_Bcast", comm, kBcast, i % world_size, 400, 1);
  if (me == 3) expect_collective("MPI_Iallreduce", comm, kAllreduce, 0, 400, kCollectives);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  expect_start();
  require(provided == MPI_THREAD_MULTIPLE);
  expect_may("library");
  for (int i = 0; i < kThreads; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    expect_label(own[i], "MPI_Comm_dup");
  }
  void* (*bodies[2])(void*) = {exchange, collectives};
  for (int pass = 0; pass < 3; pass++) {
    // First each kind alone, then both kinds mixed, eight threads.
    pthread_t threads[2 * kThreads];
    int started = 0;
    for (int kind = 0; kind < 2; kind++)
      for (long i = 0; i < kThreads && (pass == 2 || pass == kind); i++)
        pthread_create(&threads[started++], NULL, bodies[kind], (void*)i);
    while (started > 0) pthread_join(threads[--started], NULL);
  }
  for (int i = 0; i < kThreads; i++) MPI_Comm_free(&own[i]);
  report_ok("threads");
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
/* Communication over several hosts whose outcome is known: a ring, an alltoall, row communicators, a window
 * and the collectives that coll/han takes over. Rank 0 prints one line for each part.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRingBytes = 1000, kRingRounds = 3, kInts = 16384 };

static int rank, size;

static void report(const char* part, long value) {
  long sum = 0;
  MPI_Reduce(&value, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s %ld\n", part, sum);
}

static void ring(void) {
  static char out[kRingBytes], in[kRingBytes];
  long sum = 0;
  memset(out, rank + 1, sizeof out);
  for (int round = 0; round < kRingRounds; ++round) {
    MPI_Sendrecv(out, kRingBytes, MPI_CHAR, (rank + 1) % size, 5, in, kRingBytes, MPI_CHAR,
                 (rank + size - 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < kRingBytes; ++i) sum += in[i];
  }
  report("ring", sum);
}

static void alltoall(void) {
  int out[64], in[64];
  long sum = 0;
  for (int i = 0; i < size; ++i) out[i] = rank * size + i;
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) sum += (long)in[i] * (rank + 1);
  report("alltoall", sum);
}

static void split(void) {
  MPI_Comm half;
  int value = rank, sum = 0;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, half);
  MPI_Comm_free(&half);
  report("split", sum);
}

static void window(void) {
  MPI_Win win;
  long* memory;
  MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  const long value = 100 + rank;
  MPI_Win_fence(0, win);
  MPI_Put(&value, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, win);
  MPI_Win_fence(0, win);
  const long got = *memory;
  MPI_Win_free(&win);
  report("window", got * (rank + 1));
}

static void collectives(void) {
  int* out = malloc(kInts * sizeof *out);
  int* in = malloc(kInts * sizeof *in * size);
  for (int i = 0; i < kInts; ++i) out[i] = rank + i % 7;
  long sum = 0;
  MPI_Allreduce(out, in, kInts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < kInts; ++i) sum += in[i];
  report("allreduce", sum);
  sum = 0;
  MPI_Bcast(in, kInts, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < kInts; ++i) sum += in[i];
  report("bcast", sum);
  sum = 0;
  MPI_Allgather(out, 64, MPI_INT, in, 64, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < 64 * size; ++i) sum += in[i];
  report("allgather", sum);
  MPI_Reduce(out, in, kInts, MPI_INT, MPI_SUM, size - 1, MPI_COMM_WORLD);
  MPI_Gather(out, 64, MPI_INT, in, 64, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Scatter(in, 64, MPI_INT, out, 64, MPI_INT, 0, MPI_COMM_WORLD);
  sum = 0;
  for (int i = 0; i < 64; ++i) sum += out[i];
  report("scatter", sum);
  MPI_Barrier(MPI_COMM_WORLD);
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  ring();
  alltoall();
  split();
  window();
  collectives();
  MPI_Finalize();
  return 3; /* an exit code to be kept */
}

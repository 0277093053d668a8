// SPDX-License-Identifier: BSD-3-Clause
// Jobs whose time is known, because all they do is sleep:  sleeps CASE
//
//   late_sender  rank 0 computes kLong, then sends to rank 1
//   imbalance    rank 1 computes kLong before a barrier
//   late_start   rank 1 computes kLong before MPI_Init
//   tail         rank 0 computes kLong after its last call before MPI_Finalize
//   probed       rank 1 probes for kLong until rank 0 sends
//   locked       rank 1 waits for kLong for a lock that rank 0 holds
//   operation    rank 1 reduces two numbers of its own, with an operation that takes kLong
//   many_calls   kCalls messages from rank 0 to rank 1, between which rank 0 computes
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cases.h"

enum { kLong_ms = 300, kCalls = 60 };

static int rank, size, value;

static void compute(int ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

static void late_sender(void) {
  if (rank == 0) {
    compute(kLong_ms);
    MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void imbalance(void) {
  if (rank == 1) compute(kLong_ms);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void late_start(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void tail(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) compute(kLong_ms);
}

static void probed(void) {
  if (rank == 0) {
    compute(kLong_ms);
    MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Probe(0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void locked(void) {
  MPI_Win window;
  int* base;
  MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) compute(kLong_ms);
  if (rank == 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  if (rank < 2) MPI_Win_unlock(0, window);
  MPI_Win_free(&window);
}

static void slow_sum(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  compute(kLong_ms);
  for (int i = 0; i < *count; i++) ((int*)inout)[i] += ((int*)in)[i];
}

static void operation(void) {
  MPI_Op sum;
  MPI_Op_create(slow_sum, 1, &sum);
  if (rank == 1) MPI_Reduce_local(&size, &value, 1, MPI_INT, sum);
  MPI_Op_free(&sum);
}

static void many_calls(void) {
  for (int i = 0; i < kCalls; i++) {
    if (rank == 0) {
      compute(kLong_ms / kCalls);
      MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else if (rank == 1) {
      MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
}

static const struct Case cases[] = {{"late_sender", late_sender}, {"imbalance", imbalance},
                                    {"late_start", late_start},   {"tail", tail},
                                    {"probed", probed},           {"locked", locked},
                                    {"operation", operation},     {"many_calls", many_calls}};

int main(int argc, char** argv) {
  const char* const number = getenv("OMPI_COMM_WORLD_RANK");
  if (argc == 2 && strcmp(argv[1], "late_start") == 0 && number && strcmp(number, "1") == 0)
    compute(kLong_ms);
  return RUN_CASE(cases, argc, argv, &rank, &size);
}

// SPDX-License-Identifier: BSD-3-Clause
// Jobs whose balance, order, barriers and phases are known:  times CASE
//
//   balance   rank r computes r + 1 units, then all reduce; kRounds times
//   chain     each rank computes kRounds units after the rank before it has
//   barriers  rank 1 comes two units late to each of kRounds barriers
//   phases    30 iterations of a halo on a ring with a reduction (6 calls); then 45 of an exchange in pairs (1 call,
//             and 2 to 4 rounds of a ring inside, one call each)
#include <mpi.h>
#include <time.h>

#include "cases.h"

enum { kRounds = 5, kUnit_ms = 20 };

static int rank, size, value, other[4];

static void compute(int units) {
  struct timespec time = {0, units * kUnit_ms * 1000000L};
  if (units > 0) nanosleep(&time, NULL);
}

static void balance(void) {
  for (int i = 0; i < kRounds; i++) {
    compute(rank + 1);
    MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

static void chain(void) {
  if (rank > 0) MPI_Recv(&value, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  compute(kRounds);
  if (rank < size - 1) MPI_Send(&value, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
}

static void barriers(void) {
  for (int i = 0; i < kRounds; i++) {
    if (rank == 1) compute(2);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void phases(void) {
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  for (int i = 0; i < 30; i++) {
    MPI_Request requests[4];
    MPI_Irecv(&other[0], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&other[1], 1, MPI_INT, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&rank, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < 45; i++) {
    MPI_Sendrecv(&rank, 1, MPI_INT, rank ^ 1, 3, &value, 1, MPI_INT, rank ^ 1, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int round = 0; round < 2 + i % 3; round++) {
      MPI_Sendrecv(&rank, 1, MPI_INT, right, 4, &value, 1, MPI_INT, left, 4, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    }
  }
}

static const struct Case cases[] = {
    {"balance", balance}, {"chain", chain}, {"barriers", barriers}, {"phases", phases}};

int main(int argc, char** argv) { return RUN_CASE(cases, argc, argv, &rank, &size); }

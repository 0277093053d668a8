// SPDX-License-Identifier: BSD-3-Clause
// Jobs whose loops are known:  loops CASE
//
//   pair     twice: 100 iterations of a reduction and a barrier, then 50 of an exchange on a ring
//   nested   10 iterations of a broadcast, 5 x (scan, reduction), and a barrier
//   copied   40 iterations of one function, which is compiled twice, at two places that take turns,
//            and makes several calls in one line
//   branches 250 iterations that exchange and reduce, of which every 20th gathers before it
//            reduces, and every 50th ends with a barrier
//   chance   rank 1 makes three calls in an order that repeats, the other ranks do not; then 30
//            iterations of a reduction on all
#include <mpi.h>

#include "cases.h"

static int rank, size, value, other, all[64];

static inline __attribute__((always_inline)) void to_next(int tag) {
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, tag, &other, 1, MPI_INT,
               (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void pair(void) {
  for (int twice = 0; twice < 2; twice++) {
    for (int i = 0; i < 100; i++) {
      MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 50; i++) to_next(twice);
  }
}

static void nested(void) {
  for (int i = 0; i < 10; i++) {
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int j = 0; j < 5; j++) {
      MPI_Scan(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// Several calls in one line.
#define TWICE_AND_A_BARRIER() to_next(1), to_next(2), MPI_Barrier(MPI_COMM_WORLD)

static inline __attribute__((always_inline)) void step(void) { TWICE_AND_A_BARRIER(); }

static void copied(void) {
  for (int i = 0; i < 40; i++) {
    if (i % 2 == 0) {
      step();
    } else {
      value += i;
      step();
    }
  }
}

static void branches(void) {
  for (int i = 1; i <= 250; i++) {
    if (i % 20 == 0) {
      MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
      MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    } else {
      for (int round = 0; round < 4; round++) to_next(round);
    }
    for (int round = 0; round < 3; round++)
      MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (i % 50 == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void send(int to) { MPI_Send(&rank, 1, MPI_INT, to, 1, MPI_COMM_WORLD); }
static void receive(int from) {
  MPI_Recv(&other, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Rank 1 sends and receives in turn; ranks 0 and 2 do the same in an order that does not repeat.
static void chance(void) {
  if (rank == 1) {
    for (int to = 0; to <= 2; to += 2) {
      send(to), receive(to);
      send(to), receive(to);
      send(to), receive(to);
    }
  } else if (rank == 0 || rank == 2) {
    send(1), send(1), receive(1);
    send(1), receive(1), receive(1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 30; i++) MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static const struct Case cases[] = {{"pair", pair},
                                    {"nested", nested},
                                    {"copied", copied},
                                    {"branches", branches},
                                    {"chance", chance}};

int main(int argc, char** argv) { return RUN_CASE(cases, argc, argv, &rank, &size); }

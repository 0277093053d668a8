// SPDX-License-Identifier: BSD-3-Clause
// Programs whose critical path is known:  paths CASE [FACTOR]
// FACTOR makes all work, but that of relay and halo, as many times longer.
// Work is sleep, so that ranks do not take each other's processor, but for the last two, where it is too short for that.
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#include "cases.h"

static int rank, size, value;
static long factor = 1;

static void work(int milliseconds) {
  const long all = factor * milliseconds;
  struct timespec time = {all / 1000, 1000000L * (all % 1000)};
  nanosleep(&time, NULL);
}
static void spin(long ns) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < ns);
}
static void send(int to) { MPI_Send(&value, 1, MPI_INT, to, 0, MPI_COMM_WORLD); }
static void receive(int from) {
  MPI_Recv(&value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Rank 1 works 100 ms, the others 20.
static void sleeper(void) {
  work(rank == 1 ? 100 : 20);
  MPI_Barrier(MPI_COMM_WORLD);
}
// Rank 0 works 40 ms and sends; each of the others 20 ms before it passes that on.
static void ring(void) {
  if (rank == 0) {
    work(40);
    send(1);
    receive(size - 1);
  } else {
    receive(rank - 1);
    work(20);
    send((rank + 1) % size);
  }
}
// In turn another rank works 30 ms, the others 5.
static void in_turn(void) {
  for (int i = 0; i < size; i++) {
    work(rank == i ? 30 : 5);
    int sum;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}
// The master hands out 20 ms of work to each; worker 2 takes 80.
static void master_worker(void) {
  if (rank > 0) {
    receive(0);
    work(rank == 2 ? 80 : 20);
    send(0);
    return;
  }
  for (int worker = 1; worker < size; worker++) send(worker);
  for (int worker = 1; worker < size; worker++) receive(MPI_ANY_SOURCE);
}
// Five items through stages of 10 ms; stage 2 takes 30.
static void pipeline(void) {
  for (int i = 0; i < 5; i++) {
    if (rank > 0) receive(rank - 1);
    work(rank == 2 ? 30 : 10);
    if (rank < size - 1) send(rank + 1);
  }
}
// Pairs at distance 1, then 2; rank 3 works 50 ms before the first, and rank 2 as long before the
// second.
static void butterfly(void) {
  for (int distance = 1; distance < size; distance *= 2) {
    if (rank == (distance == 1 ? 3 : 2)) work(50);
    int other;
    MPI_Sendrecv(&rank, 1, MPI_INT, rank ^ distance, 0, &other, 1, MPI_INT, rank ^ distance, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}
// Rank 0 broadcasts after 50 ms of work; the others have 10 ms before and rank 3 has 40 after.
static void root(void) {
  work(rank == 0 ? 50 : 10);
  MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 3) work(40);
}
// Rank 0 has a long message for rank 1, which works 50 ms before it receives; then rank 0 works 60
// ms.
static void posts_late(void) {
  static char longer[1 << 20];
  if (rank == 1) {
    work(50);
    MPI_Recv(longer, sizeof longer, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == 0) {
    MPI_Send(longer, sizeof longer, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    work(60);
  }
}
// A token goes round often; who has it works 1 to 128 us, all as long in one round. So there is always
// one rank at work, and all others wait for some time of very different length.
static void relay(void) {
  enum { kRounds = 40000 };
  unsigned state = 1;
  for (int i = 0; i < kRounds; i++) {
    state = state * 1103515245u + 12345u;
    if (rank > 0 || i > 0) receive((rank + size - 1) % size);
    spin((1 << (state >> 16) % 7) * (64 + (state >> 24) % 64) * 1000L / 64);
    send((rank + 1) % size);
  }
  if (rank == 0) receive(size - 1);
}

// A fine-grained exchange with both neighbours in a ring: up to 40 us of work, 40 more on the rank whose turn it is.
static void halo(void) {
  enum { kRounds = 60000 };
  int in[2], out[2] = {rank, rank};
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  unsigned state = (unsigned)rank;
  for (int i = 0; i < kRounds; i++) {
    MPI_Request requests[4];
    state = state * 1103515245u + 12345u;
    spin(1000L * ((state >> 16) % 40 + (i / (kRounds / 8) % size == rank ? 40 : 0)));
    MPI_Irecv(&in[0], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&out[0], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&out[1], 1, MPI_INT, left, 2, MPI_COMM_WORLD, &requests[3]);
    if (i % 3 != 0) MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; i % 3 == 0 && k < 4; k++) MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
    int sum;
    if (i % 10 == 0) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

static const struct Case cases[] = {{"sleeper", sleeper},   {"ring", ring},
                                    {"in_turn", in_turn},   {"master_worker", master_worker},
                                    {"pipeline", pipeline}, {"butterfly", butterfly},
                                    {"root", root},         {"posts_late", posts_late},
                                    {"relay", relay},       {"halo", halo}};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 2) factor = strtol(argv[2], NULL, 10);
  const struct Case* const chosen = CHOSEN(cases, argc, argv);
  if (chosen != NULL) chosen->run();
  MPI_Finalize();
  return exit_code(chosen);
}

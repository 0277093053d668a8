// SPDX-License-Identifier: BSD-3-Clause
// What the page Machine shows, in half a second: a ring, a pair that sends to and fro, a late sender, rooted
// and global collectives, barriers to which rank 1 comes late, two named phases of traffic.
//
//   exchange [FILE]   with FILE, the ring goes on until it exists, and rests while FILE.rest does, in which time
//                     there is FILE.rests
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank, size;
static char small[64], large[100000];

static void ring(void) {
  MPI_Sendrecv_replace(large, sizeof large, MPI_CHAR, (rank + 1) % size, 3,
                       (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void to_and_fro(int other) {
  if (rank > other)
    MPI_Recv(small, sizeof small, MPI_CHAR, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(small, sizeof small, MPI_CHAR, other, 4, MPI_COMM_WORLD);
  if (rank < other)
    MPI_Recv(small, sizeof small, MPI_CHAR, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Once all have come here, nothing is sent until FILE.rest is gone.
static void rest(const char* file, const char* until_gone) {
  char rests[4096];
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    snprintf(rests, sizeof rests, "%s.rests", file);
    FILE* mark = fopen(rests, "w");
    if (mark != NULL) fclose(mark);
    while (access(until_gone, F_OK) == 0 && access(file, F_OK) != 0) usleep(10000);
    unlink(rests);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// Whether rank 0 has seen the file: all learn it together.
static int ends(const char* file) {
  enum { kGoOn, kEnd, kRest } next = kEnd;
  char until_gone[4096];
  if (file != NULL) {
    snprintf(until_gone, sizeof until_gone, "%s.rest", file);
    next = access(file, F_OK) == 0 ? kEnd : access(until_gone, F_OK) == 0 ? kRest : kGoOn;
    MPI_Bcast(&next, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (next == kRest) rest(file, until_gone);
  }
  return next == kEnd;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* file = argc > 1 ? argv[1] : NULL;
  do {
    for (int round = 0; round < 8; ++round) {
      if (rank == 1) usleep(6000);
      MPI_Barrier(MPI_COMM_WORLD);
      ring();
    }
  } while (!ends(file));
  for (int round = 0; round < 40; ++round) {
    if (rank < 2) to_and_fro(1 - rank);
  }
  double sum = rank, all = 0;
  for (int round = 0; round < 10; ++round) {
    if (rank == 2) usleep(3000);
    MPI_Bcast(large, 5000, MPI_CHAR, 2, MPI_COMM_WORLD);
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}

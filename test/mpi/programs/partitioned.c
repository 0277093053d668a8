// SPDX-License-Identifier: BSD-3-Clause
// Partitioned communication (MPI 4.0, chapter 4): each partition is one message of a class of its
// own, on the program's communicator and between its ranks, although the library sends it on a
// duplicate of MPI_COMM_WORLD. The messages that set it up have the program's communicator and tag:
// they must not be taken for the program's, nor the program's, of any length, for them.
#include "../expect.h"

enum { kPartitions = 4, kBytes = 1000, kRounds = 3 };
static char out[kPartitions * kBytes], in[kPartitions * kBytes];

static void rounds(MPI_Comm comm, int next, int previous, int tag, int received_in) {
  MPI_Request requests[2];
  int rank, first = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Psend_init(out, kPartitions, kBytes, MPI_BYTE, next, tag, comm, MPI_INFO_NULL, requests);
  MPI_Precv_init(in, received_in, kPartitions * kBytes / received_in, MPI_BYTE, previous, tag, comm,
                 MPI_INFO_NULL, requests + 1);
  for (unsigned round = 0; round < kRounds; round++) {
    fill(out, sizeof out, round);
    MPI_Startall(2, requests);
    MPI_Pready(2, requests[0]);
    MPI_Pready_range(0, 1, requests[0]);
    MPI_Pready_list(1, (int[]){3}, requests[0]);
    for (first = 0; !first;) MPI_Parrived(requests[1], 0, &first);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    verify(in, sizeof in, round);
  }
  expect_pair("partitioned", comm, rank, next, kBytes, kRounds * kPartitions);
  MPI_Request_free(requests);
  MPI_Request_free(requests + 1);
}

// Messages of the program with the same tag, as long as those that set up a partitioned operation.
static void ordinary(MPI_Comm comm, int next, int previous, int tag) {
  char here[64], there[64];
  for (int size = 24; size <= 48; size += 8) {
    MPI_Sendrecv(here, size, MPI_BYTE, next, tag, there, size, MPI_BYTE, previous, tag, comm,
                 MPI_STATUS_IGNORE);
    expect_message(comm, next, size, 1);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  expect_may("library");
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed);
  expect_label(reversed, "MPI_Comm_split");
  int rank = world_size - 1 - world_rank;

  ordinary(MPI_COMM_WORLD, next, previous, 7);
  rounds(MPI_COMM_WORLD, next, previous, 7, kPartitions);
  ordinary(MPI_COMM_WORLD, next, previous, 7);
  rounds(reversed, (rank + 1) % world_size, (rank + world_size - 1) % world_size, 8, kPartitions);
  // The receiver divides its buffer differently.
  rounds(reversed, (rank + 1) % world_size, (rank + world_size - 1) % world_size, 7, 2);
  ordinary(reversed, (rank + 1) % world_size, (rank + world_size - 1) % world_size, 8);
  // To oneself, while the library's own communicators exist already.
  rounds(MPI_COMM_SELF, 0, 0, 1, kPartitions);
  MPI_Comm_free(&reversed);
  report_ok("partitioned");
  MPI_Finalize();
  return 0;
}

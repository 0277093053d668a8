// SPDX-License-Identifier: BSD-3-Clause
// MPI_Pcontrol(0) pauses counting and MPI_Pcontrol(1) resumes it: what is sent and received while
// paused is counted nowhere. Other levels change nothing.
#include "../expect.h"

static char out[10000], in[10000];

static void exchange(MPI_Comm comm, int size) {
  int rank, count;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &count);
  MPI_Sendrecv(out, size, MPI_BYTE, (rank + 1) % count, 0, in, 10000, MPI_BYTE, MPI_ANY_SOURCE, 0,
               comm, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  expect_may("library");
  int next = (world_rank + 1) % world_size, sum;
  MPI_Comm dup;
  exchange(MPI_COMM_WORLD, 11);
  expect_message(MPI_COMM_WORLD, next, 11, 1);
  for (int round = 0; round < 3; round++) {
    MPI_Pcontrol(0);
    exchange(MPI_COMM_WORLD, 8);
    exchange(MPI_COMM_WORLD, 9000);
    MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    // Communicators made while paused are known afterwards.
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &dup);
    MPI_Pcontrol(1);
    expect_label(dup, "MPI_Comm_split");
    int rank, size;
    MPI_Comm_rank(dup, &rank);
    MPI_Comm_size(dup, &size);
    exchange(dup, 13);
    expect_message(dup, (rank + 1) % size, 13, 1);
    exchange(MPI_COMM_WORLD, 12);
    expect_message(MPI_COMM_WORLD, next, 12, 1);
    MPI_Comm_free(&dup);
  }
  MPI_Pcontrol(1);
  MPI_Pcontrol(2);
  exchange(MPI_COMM_WORLD, 14);
  expect_message(MPI_COMM_WORLD, next, 14, 1);
  MPI_Allreduce(&next, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect_collective("MPI_Allreduce", MPI_COMM_WORLD, kAllreduce, 0, sizeof(int), 1);
  report_ok("pcontrol");
  MPI_Finalize();
  return 0;
}

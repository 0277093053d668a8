// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives in flight while other calls make them progress: blocking collectives,
// sends and receives, on the same communicator and on others. Every message keeps its own
// collective's name.
#include "../expect.h"

enum { kInts = 5000, kRounds = 10 };
static int a[kInts], b[kInts], c[kInts], d[kInts];

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  expect_may("library");
  MPI_Comm world = MPI_COMM_WORLD, dup;
  MPI_Comm_dup(world, &dup);
  expect_label(dup, "MPI_Comm_dup");
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  const long long bytes = kInts * (long long)sizeof(int);
  for (int round = 0; round < kRounds; round++) {
    MPI_Request requests[5];
    int root = round % world_size, count = round % 2 ? kInts : 10, small = count * (int)sizeof(int);
    MPI_Iallreduce(a, b, count, MPI_INT, MPI_SUM, world, &requests[0]);
    MPI_Ibcast(c, kInts, MPI_INT, root, world, &requests[1]);
    MPI_Ibarrier(dup, &requests[2]);
    MPI_Barrier(world);  // progresses all of the above
    MPI_Irecv(d, kInts, MPI_INT, previous, 1, dup, &requests[3]);
    MPI_Isend(a, count, MPI_INT, next, 1, dup, &requests[4]);
    expect_message(dup, next, small, 1);
    MPI_Barrier(dup);
    MPI_Sendrecv_replace(d, 0, MPI_INT, next, 2, previous, 2, world, MPI_STATUS_IGNORE);
    expect_message(world, next, 0, 1);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    expect_collective("MPI_Iallreduce", world, kAllreduce, 0, small, 1);
    expect_collective("MPI_Ibcast", world, kBcast, root, bytes, 1);
    expect_collective("MPI_Ibarrier", dup, kBarrier, 0, 0, 1);
    expect_collective("MPI_Barrier", world, kBarrier, 0, 0, 1);
    expect_collective("MPI_Barrier", dup, kBarrier, 0, 0, 1);
  }
  expect_no_bytes("MPI_Barrier", world);
  expect_no_bytes("MPI_Barrier", dup);
  expect_no_bytes("MPI_Ibarrier", dup);
  MPI_Comm_free(&dup);
  report_ok("overlap");
  MPI_Finalize();
  return 0;
}

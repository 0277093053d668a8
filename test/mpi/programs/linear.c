// SPDX-License-Identifier: BSD-3-Clause
// Collectives whose messages are known: run.py forces the linear algorithm of each, so that every
// pair has a closed form. Point-to-point messages between them may not change class.
#include "../expect.h"

enum { kBlock = 3000, kRanks = 8 };
static char out[kRanks * kBlock], in[kRanks * kBlock];

static void star(const char* name, int center, long long to_center, long long from_center) {
  for (int i = 0; world_rank == 0 && i < world_size; i++) {
    if (i == center) continue;
    if (to_center >= 0) expect_pair(name, MPI_COMM_WORLD, i, center, to_center, 1);
    if (from_center >= 0) expect_pair(name, MPI_COMM_WORLD, center, i, from_center, 1);
  }
}

static void everybody(const char* name, long long bytes) {
  for (int i = 0; i < world_size; i++)
    if (i != world_rank) expect_pair(name, MPI_COMM_WORLD, world_rank, i, bytes, 1);
}

static void between(void) {
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  MPI_Sendrecv(out, 60, MPI_BYTE, next, 1, in, 60, MPI_BYTE, previous, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  expect_message(MPI_COMM_WORLD, next, 60, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  MPI_Comm world = MPI_COMM_WORLD;
  int counts[kRanks], displacements[kRanks], root = world_size - 1, n = kBlock,
                                             all = n * world_size;
  for (int i = 0; i < world_size; i++) {
    counts[i] = n;
    displacements[i] = n * i;
  }
  for (int round = 0; round < 3; round++) {
    MPI_Bcast(out, n, MPI_BYTE, root, world);
    star("MPI_Bcast", root, -1, n);
    between();
    MPI_Gather(out, n, MPI_BYTE, in, n, MPI_BYTE, root, world);
    star("MPI_Gather", root, n, -1);
    MPI_Gatherv(out, n, MPI_BYTE, in, counts, displacements, MPI_BYTE, root, world);
    star("MPI_Gatherv", root, n, -1);
    between();
    MPI_Scatter(out, n, MPI_BYTE, in, n, MPI_BYTE, root, world);
    star("MPI_Scatter", root, -1, n);
    MPI_Scatterv(out, counts, displacements, MPI_BYTE, in, n, MPI_BYTE, root, world);
    star("MPI_Scatterv", root, -1, n);
    between();
    // Gather to rank 0, then broadcast from there: both belong to the call that the program made.
    MPI_Allgather(out, n, MPI_BYTE, in, n, MPI_BYTE, world);
    star("MPI_Allgather", 0, n, all);
    MPI_Allgatherv(out, n, MPI_BYTE, in, counts, displacements, MPI_BYTE, world);
    star("MPI_Allgatherv", 0, n, all);
    between();
    MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, world);
    everybody("MPI_Alltoall", n);
    MPI_Alltoallv(out, counts, displacements, MPI_BYTE, in, counts, displacements, MPI_BYTE, world);
    everybody("MPI_Alltoallv", n);
    between();
    MPI_Reduce(out, in, n, MPI_CHAR, MPI_MAX, root, world);
    star("MPI_Reduce", root, n, -1);
    // Reduce to rank 0, then broadcast.
    MPI_Allreduce(out, in, n, MPI_CHAR, MPI_MAX, world);
    star("MPI_Allreduce", 0, n, n);
    between();
    // Reduce to rank 0, then scatter.
    MPI_Reduce_scatter(out, in, counts, MPI_CHAR, MPI_MAX, world);
    star("MPI_Reduce_scatter", 0, all, n);
    MPI_Barrier(world);
    star("MPI_Barrier", 0, 0, 0);
    MPI_Scan(out, in, n, MPI_CHAR, MPI_MAX, world);
    MPI_Exscan(out, in, n, MPI_CHAR, MPI_MAX, world);
    if (world_rank + 1 < world_size) {
      expect_pair("MPI_Scan", world, world_rank, world_rank + 1, n, 1);
      expect_pair("MPI_Exscan", world, world_rank, world_rank + 1, n, 1);
    }
    between();
  }
  report_ok("linear");
  MPI_Finalize();
  return 0;
}

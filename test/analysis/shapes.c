// SPDX-License-Identifier: BSD-3-Clause
// One shape of traffic, 50 rounds of 4 KiB messages:
//
//   shapes halo PERIODIC EXTENT...   nearest neighbours on a Cartesian communicator
//   shapes butterfly|ring|master|pairs|all|alltoall
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { kRounds = 50, kBytes = 4096, kMostDimensions = 6, kMostRanks = 8 };

static char out[kBytes], in[kBytes];

static void exchange(int to, int from, MPI_Comm comm) {
  MPI_Sendrecv(out, kBytes, MPI_CHAR, to, 1, in, kBytes, MPI_CHAR, from, 1, comm,
               MPI_STATUS_IGNORE);
}

static MPI_Comm make_grid(int periodic, int dimensions, char** words) {
  int extents[kMostDimensions], periods[kMostDimensions];
  for (int d = 0; d < dimensions; ++d) {
    extents[d] = atoi(words[d]);
    periods[d] = periodic;
  }
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, extents, periods, 0, &grid);
  return grid;
}

static void halo(MPI_Comm grid, int dimensions) {
  for (int d = 0; d < dimensions; ++d) {
    int down, up;
    MPI_Cart_shift(grid, d, 1, &down, &up);
    exchange(up, down, grid);
    exchange(down, up, grid);
  }
}

static void master(int rank, int size) {
  if (rank > 0) {
    MPI_Send(out, kBytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    MPI_Recv(in, kBytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  for (int worker = 1; worker < size; ++worker) {
    MPI_Status status;
    MPI_Recv(in, kBytes, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
    MPI_Send(out, kBytes, MPI_CHAR, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
  }
}

// False if there is no such shape.
static int one_round(const char* shape) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!strcmp(shape, "butterfly")) {
    for (int bit = 1; bit < size; bit *= 2) exchange(rank ^ bit, rank ^ bit, MPI_COMM_WORLD);
  } else if (!strcmp(shape, "ring")) {
    exchange((rank + 1) % size, (rank + size - 1) % size, MPI_COMM_WORLD);
  } else if (!strcmp(shape, "pairs")) {
    exchange((rank + size / 2) % size, (rank + size / 2) % size, MPI_COMM_WORLD);
  } else if (!strcmp(shape, "all")) {
    for (int by = 1; by < size; ++by)
      exchange((rank + by) % size, (rank + size - by) % size, MPI_COMM_WORLD);
  } else if (!strcmp(shape, "alltoall")) {
    static char all_out[kMostRanks * kBytes], all_in[kMostRanks * kBytes];
    MPI_Alltoall(all_out, kBytes, MPI_CHAR, all_in, kBytes, MPI_CHAR, MPI_COMM_WORLD);
  } else if (!strcmp(shape, "master")) {
    master(rank, size);
  } else {
    return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int known = argc > 1;
  if (argc > 3 && !strcmp(argv[1], "halo")) {
    const int dimensions = argc - 3;
    MPI_Comm grid = make_grid(atoi(argv[2]), dimensions, argv + 3);
    for (int i = 0; i < kRounds; ++i) halo(grid, dimensions);
    MPI_Comm_free(&grid);
  } else {
    for (int i = 0; i < kRounds && known; ++i) known = one_round(argv[1]);
  }
  MPI_Finalize();
  return known ? 0 : 2;
}

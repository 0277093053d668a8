// SPDX-License-Identifier: BSD-3-Clause
// Runs communication with known patterns and times itself: patterns NAME [ROUNDS] [BYTES]
//
//   halo       each rank exchanges with its neighbours on a periodic grid of half the ranks by two
//   alltoall   MPI_Alltoall, as FFTs do
//   transpose  each rank sends its block to the rank across the diagonal, all at once, as in PTRANS
//   pairs      rank r exchanges with r + size / 2
//   allreduce  of BYTES bytes
//
// Rank 0 prints the seconds between two barriers.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static char *out, *in;

static void exchange(const int *partners, int count, int bytes) {
  MPI_Request requests[16];
  for (int i = 0; i < count; ++i)
    MPI_Irecv(in + (size_t)i * bytes, bytes, MPI_BYTE, partners[i], 1, MPI_COMM_WORLD,
              &requests[i]);
  for (int i = 0; i < count; ++i)
    MPI_Isend(out + (size_t)i * bytes, bytes, MPI_BYTE, partners[i], 1, MPI_COMM_WORLD,
              &requests[count + i]);
  MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
}

static void halo(int bytes) {
  const int wide = size / 2, x = rank % wide, y = rank / wide;
  const int partners[3] = {y * wide + (x + 1) % wide, y * wide + (x + wide - 1) % wide,
                           (1 - y) * wide + x};
  exchange(partners, 3, bytes);
}

static void transpose(int bytes) {
  int side = 1;
  while ((side + 1) * (side + 1) <= size) ++side;
  const int partner = rank < side * side ? rank % side * side + rank / side : rank;
  if (partner != rank) exchange(&partner, 1, bytes);
}

static void round_of(const char *name, int bytes) {
  const int across = (rank + size / 2) % size;
  if (!strcmp(name, "halo"))
    halo(bytes);
  else if (!strcmp(name, "transpose"))
    transpose(bytes);
  else if (!strcmp(name, "pairs"))
    exchange(&across, 1, bytes);
  else if (!strcmp(name, "allreduce"))
    MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  else
    MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char *name = argc > 1 ? argv[1] : "alltoall";
  const int rounds = argc > 2 ? atoi(argv[2]) : 3, bytes = argc > 3 ? atoi(argv[3]) : 1 << 20;
  out = calloc((size_t)size + 3, (size_t)bytes);
  in = calloc((size_t)size + 3, (size_t)bytes);
  MPI_Alltoall(out, 1, MPI_BYTE, in, 1, MPI_BYTE, MPI_COMM_WORLD);  // opens the connections
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int round = 0; round < rounds; ++round) round_of(name, bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begin;
  char host[MPI_MAX_PROCESSOR_NAME];
  int length;
  MPI_Get_processor_name(host, &length);
  if (rank == 0) printf("seconds %.6f\n", seconds);
  printf("rank %d on %s\n", rank, host);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}

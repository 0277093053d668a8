// SPDX-License-Identifier: BSD-3-Clause
// Collectives on an intercommunicator, blocking and non-blocking. Open MPI also sends inside the
// groups, on communicators of its own; all of it belongs to the collective that the program called.
#include "../expect.h"

enum { kBlock = 2000, kRanks = 8 };
static char out[kRanks * kBlock], in[kRanks * kBlock];
static MPI_Comm inter;
static int nonblocking, remote_size;

#define COLLECTIVE(Name, name, bytes, ...)                                            \
  do {                                                                                \
    if (nonblocking) {                                                                \
      MPI_Request request_;                                                           \
      MPI_I##name(__VA_ARGS__, inter, &request_);                                     \
      MPI_Wait(&request_, MPI_STATUS_IGNORE);                                         \
    } else {                                                                          \
      MPI_##Name(__VA_ARGS__, inter);                                                 \
    }                                                                                 \
    if (world_rank == 0)                                                              \
      expect_at_least_anywhere(nonblocking ? "MPI_I" #name : "MPI_" #Name, bytes, 1); \
  } while (0)

static void across(void) {
  int rank;
  MPI_Comm_rank(inter, &rank);
  if (rank == 0) {
    MPI_Sendrecv(out, 500, MPI_BYTE, 0, 3, in, 500, MPI_BYTE, 0, 3, inter, MPI_STATUS_IGNORE);
    expect_message(inter, 0, 500, 1);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  expect_may("library");
  nonblocking = argc > 1;
  MPI_Comm half;
  int first = world_rank < (world_size + 1) / 2, n = kBlock, rank;
  MPI_Comm_split(MPI_COMM_WORLD, first, world_rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first ? (world_size + 1) / 2 : 0, 1, &inter);
  expect_label(inter, "MPI_Intercomm_create");
  MPI_Comm_rank(inter, &rank);
  MPI_Comm_remote_size(inter, &remote_size);
  int counts[kRanks], displacements[kRanks], local_size;
  MPI_Datatype types[kRanks];
  MPI_Comm_size(inter, &local_size);
  for (int i = 0; i < kRanks; i++) {
    counts[i] = n;
    displacements[i] = n * i;
    types[i] = MPI_BYTE;
  }
  // The root is rank 0 of the first group; the second group names it by its rank.
  int root = first ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
  long long second = world_size / 2, whole = (long long)n * second;
  across();
  COLLECTIVE(Bcast, bcast, whole, out, n, MPI_BYTE, root);
  COLLECTIVE(Gather, gather, whole, out, n, MPI_BYTE, in, n, MPI_BYTE, root);
  COLLECTIVE(Gatherv, gatherv, whole, out, n, MPI_BYTE, in, counts, displacements, MPI_BYTE, root);
  across();
  COLLECTIVE(Scatter, scatter, whole, out, n, MPI_BYTE, in, n, MPI_BYTE, root);
  COLLECTIVE(Scatterv, scatterv, whole, out, counts, displacements, MPI_BYTE, in, n, MPI_BYTE,
             root);
  COLLECTIVE(Reduce, reduce, n, out, in, n, MPI_CHAR, MPI_MAX, root);
  across();
  COLLECTIVE(Allgather, allgather, 2 * n, out, n, MPI_BYTE, in, n, MPI_BYTE);
  COLLECTIVE(Allgatherv, allgatherv, 2 * n, out, n, MPI_BYTE, in, counts, displacements, MPI_BYTE);
  COLLECTIVE(Alltoall, alltoall, 2 * n, out, n, MPI_BYTE, in, n, MPI_BYTE);
  COLLECTIVE(Alltoallv, alltoallv, 2 * n, out, counts, displacements, MPI_BYTE, in, counts,
             displacements, MPI_BYTE);
  COLLECTIVE(Alltoallw, alltoallw, 2 * n, out, counts, displacements, types, in, counts,
             displacements, types);
  across();
  COLLECTIVE(Allreduce, allreduce, 2 * n, out, in, n, MPI_CHAR, MPI_MAX);
  // Both groups must bring the same number of elements: a block for each pair of members.
  for (int i = 0; i < local_size; i++) counts[i] = remote_size;
  COLLECTIVE(Reduce_scatter, reduce_scatter, 1, out, in, counts, MPI_CHAR, MPI_MAX);
  COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, 1, out, in, remote_size, MPI_CHAR,
             MPI_MAX);
  if (nonblocking) {
    MPI_Request request;
    MPI_Ibarrier(inter, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Barrier(inter);
  }
  if (world_rank == 0) expect_at_least_anywhere(nonblocking ? "MPI_Ibarrier" : "MPI_Barrier", 0, 2);
  across();
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
  report_ok("intercollectives");
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Neighbourhood collectives on Cartesian and distributed-graph communicators. Their messages are
// known: one to each neighbour, none to MPI_PROC_NULL, also to oneself where the topology says so.
//
//   neighbors blocking | nonblocking | persistent
#include <mpi.h>
/* after mpi.h */

#include "../expect.h"
#include "persistent.h"

enum form { kBlocking, kNonblocking, kPersistent } form;
enum { kMaximumDegree = 8, kMaximumBlock = 20000 };

static MPI_Comm comm;
static int degree_in, degree_out, to[kMaximumDegree], times;
static char *out, *in;

static void complete(MPI_Request* request) {
  if (form == kNonblocking) MPI_Wait(request, MPI_STATUS_IGNORE);
  if (form == kPersistent) {
    for (int i = 0; i < times; i++) {
      MPI_Start(request);
      MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(request);
  }
}

#define COLLECTIVE(name, block, ...)                                              \
  do {                                                                            \
    MPI_Request request_ = MPI_REQUEST_NULL;                                      \
    if (form == kBlocking) MPI_Neighbor_##name(__VA_ARGS__, comm);                \
    if (form == kNonblocking) MPI_Ineighbor_##name(__VA_ARGS__, comm, &request_); \
    if (form == kPersistent)                                                      \
      PERSISTENT(Neighbor_##name)(__VA_ARGS__, comm, MPI_INFO_NULL, &request_);   \
    complete(&request_);                                                          \
    for (int i_ = 0; i_ < degree_out; i_++)                                       \
      if (to[i_] != MPI_PROC_NULL)                                                \
        expect_pair(form == kBlocking      ? "MPI_Neighbor_" #name                \
                    : form == kNonblocking ? "MPI_Ineighbor_" #name               \
                                           : "MPI_Neighbor_" #name "_init",       \
                    comm, comm_rank(), to[i_], block, times);                     \
  } while (0)

static int comm_rank(void) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

static void run(int n) {
  int counts[kMaximumDegree], displacements[kMaximumDegree];
  MPI_Aint offsets[kMaximumDegree];
  MPI_Datatype types[kMaximumDegree];
  for (int i = 0; i < kMaximumDegree; i++) {
    counts[i] = n;
    displacements[i] = i * n;
    offsets[i] = i * n;
    types[i] = MPI_BYTE;
  }
  COLLECTIVE(allgather, n, out, n, MPI_BYTE, in, n, MPI_BYTE);
  COLLECTIVE(allgatherv, n, out, n, MPI_BYTE, in, counts, displacements, MPI_BYTE);
  COLLECTIVE(alltoall, n, out, n, MPI_BYTE, in, n, MPI_BYTE);
  COLLECTIVE(alltoallv, n, out, counts, displacements, MPI_BYTE, in, counts, displacements,
             MPI_BYTE);
  COLLECTIVE(alltoallw, n, out, counts, offsets, types, in, counts, offsets, types);
}

static void cart(int dimensions, int* dims, int* periods) {
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, periods, 0, &comm);
  expect_label(comm, "MPI_Cart_create");
  degree_in = degree_out = 2 * dimensions;
  for (int i = 0; i < dimensions; i++) MPI_Cart_shift(comm, i, 1, &to[2 * i], &to[2 * i + 1]);
  run(16);
  run(kMaximumBlock);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  form = argc < 2 || !strcmp(argv[1], "blocking") ? kBlocking
         : !strcmp(argv[1], "nonblocking")        ? kNonblocking
                                                  : kPersistent;
  times = form == kPersistent ? 3 : 1;
  expect_may("library");
  out = calloc(kMaximumDegree, kMaximumBlock);
  in = calloc(kMaximumDegree, kMaximumBlock);

  int line[1] = {world_size}, open[1] = {0}, ring[1] = {1};
  cart(1, line, open);
  cart(1, line, ring);
  int dims[2] = {0, 0}, periods[2] = {1, 0};
  MPI_Dims_create(world_size, 2, dims);
  cart(2, dims, periods);

  // A graph with unequal degrees: everybody listens to rank 0 and to itself, rank 0 to the last as
  // well.
  int last = world_size - 1, sources[3], source_count = 0;
  sources[source_count++] = 0;
  if (world_rank != 0) sources[source_count++] = world_rank;
  if (world_rank == 0) sources[source_count++] = last;
  degree_in = source_count;
  degree_out = 0;
  if (world_rank == 0) {
    for (int i = 0; i < world_size; i++) to[degree_out++] = i;
  } else {
    to[degree_out++] = world_rank;
    if (world_rank == last) to[degree_out++] = 0;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree_in, sources, MPI_UNWEIGHTED, degree_out, to,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  expect_label(comm, "MPI_Dist_graph_create_adjacent");
  run(16);
  run(kMaximumBlock);
  MPI_Comm_free(&comm);
  report_ok("neighbors");
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Every collective of an intracommunicator, on the world and on a reversed part of it, small and
// large, with and without MPI_IN_PLACE. The argument chooses the form:
//
//   collectives blocking | nonblocking | persistent
//
// Which messages an algorithm sends is not known; what any algorithm must move is
// (expect_collective).
#include <mpi.h>
/* after mpi.h */

#include "../expect.h"
#include "persistent.h"

enum form { kBlocking, kNonblocking, kPersistent } form;
enum { kStarts = 3, kMaximumRanks = 8, kMaximumBlock = 40000 };

static MPI_Comm comm;
static int rank, size, times;
static char *send_buffer, *receive_buffer;
static int *counts, *displacements;
static MPI_Datatype* types;

static void complete(MPI_Request* request) {
  if (form == kNonblocking) {
    int flag = 0;
    while (!flag) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
  } else if (form == kPersistent) {
    for (int i = 0; i < kStarts; i++) {
      if (i % 2)
        MPI_Startall(1, request);
      else
        MPI_Start(request);
      MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(request);
  }
}

// Calls one collective in the chosen form and says what it must have moved.
#define COLLECTIVE(Name, name, kind, root, block, ...)                                      \
  do {                                                                                      \
    MPI_Request request_ = MPI_REQUEST_NULL;                                                \
    if (form == kBlocking) MPI_##Name(__VA_ARGS__, comm);                                   \
    if (form == kNonblocking) MPI_I##name(__VA_ARGS__, comm, &request_);                    \
    if (form == kPersistent) PERSISTENT(Name)(__VA_ARGS__, comm, MPI_INFO_NULL, &request_); \
    complete(&request_);                                                                    \
    expect_collective(form == kBlocking      ? "MPI_" #Name                                 \
                      : form == kNonblocking ? "MPI_I" #name                                \
                                             : "MPI_" #Name "_init",                        \
                      comm, kind, root, block, times);                                      \
  } while (0)

static void barrier(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  const char* name = form == kBlocking      ? "MPI_Barrier"
                     : form == kNonblocking ? "MPI_Ibarrier"
                                            : "MPI_Barrier_init";
  if (form == kBlocking) MPI_Barrier(comm);
  if (form == kNonblocking) MPI_Ibarrier(comm, &request);
  if (form == kPersistent) PERSISTENT(Barrier)(comm, MPI_INFO_NULL, &request);
  complete(&request);
  expect_collective(name, comm, kBarrier, 0, 0, times);
  expect_no_bytes(name, comm);
}

// Every rank's block is `n` bytes, of which there are n / 4 integers for the reductions.
static void run(int n, int root, int in_place) {
  int ints = n / 4, i, me = rank == root;
  char *out = send_buffer, *in = receive_buffer;
  size_t whole = (size_t)n * (size_t)size;
  for (i = 0; i < size; i++) {
    counts[i] = n;
    displacements[i] = i * n;
    types[i] = MPI_BYTE;
  }
  barrier();

  fill(me ? out : in, (size_t)n, 1);
  COLLECTIVE(Bcast, bcast, kBcast, root, n, me ? out : in, n, MPI_BYTE, root);
  verify(me ? out : in, (size_t)n, 1);

  const void* rooted = in_place && me ? MPI_IN_PLACE : out;
  COLLECTIVE(Gather, gather, kGather, root, n, rooted, n, MPI_BYTE, in, n, MPI_BYTE, root);
  COLLECTIVE(Gatherv, gatherv, kGather, root, n, rooted, n, MPI_BYTE, in, counts, displacements,
             MPI_BYTE, root);
  fill(out, whole, 2);
  void* scattered = in_place && me ? MPI_IN_PLACE : in;
  COLLECTIVE(Scatter, scatter, kScatter, root, n, out, n, MPI_BYTE, scattered, n, MPI_BYTE, root);
  COLLECTIVE(Scatterv, scatterv, kScatter, root, n, out, counts, displacements, MPI_BYTE, scattered,
             n, MPI_BYTE, root);

  const void* mine = in_place ? MPI_IN_PLACE : out;
  fill(out, (size_t)n, (unsigned)rank);
  fill(in + (size_t)rank * (size_t)n, (size_t)n, (unsigned)rank);
  COLLECTIVE(Allgather, allgather, kAllgather, 0, n, mine, n, MPI_BYTE, in, n, MPI_BYTE);
  for (i = 0; i < size; i++) verify(in + (size_t)i * (size_t)n, (size_t)n, (unsigned)i);
  COLLECTIVE(Allgatherv, allgatherv, kAllgather, 0, n, mine, n, MPI_BYTE, in, counts, displacements,
             MPI_BYTE);
  COLLECTIVE(Alltoall, alltoall, kAlltoall, 0, n, mine, n, MPI_BYTE, in, n, MPI_BYTE);
  COLLECTIVE(Alltoallv, alltoallv, kAlltoall, 0, n, mine, counts, displacements, MPI_BYTE, in,
             counts, displacements, MPI_BYTE);
  COLLECTIVE(Alltoallw, alltoallw, kAlltoall, 0, n, mine, counts, displacements, types, in, counts,
             displacements, types);

  int *values = (int*)out, *results = (int*)in;
  for (i = 0; i < ints * size; i++) values[i] = results[i] = 1;
  COLLECTIVE(Reduce, reduce, kReduce, root, n, rooted, in, ints, MPI_INT, MPI_SUM, root);
  if (me && form != kPersistent) require(results[0] == size && results[ints - 1] == size);
  for (i = 0; i < ints * size; i++) values[i] = results[i] = 1;
  COLLECTIVE(Allreduce, allreduce, kAllreduce, 0, n, mine, in, ints, MPI_INT, MPI_SUM);
  if (form != kPersistent || !in_place) require(results[0] == size && results[ints - 1] == size);
  for (i = 0; i < size; i++) counts[i] = ints;
  COLLECTIVE(Reduce_scatter, reduce_scatter, kReduceScatter, 0, n, mine, in, counts, MPI_INT,
             MPI_SUM);
  COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, kReduceScatter, 0, n, mine, in, ints,
             MPI_INT, MPI_SUM);
  COLLECTIVE(Scan, scan, kScan, 0, n, mine, in, ints, MPI_INT, MPI_MAX);
  COLLECTIVE(Exscan, exscan, kScan, 0, n, mine, in, ints, MPI_INT, MPI_MAX);
}

static void on(MPI_Comm which) {
  comm = which;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int in_place = 0; in_place < 2; in_place++) {
    run(8, 0, in_place);
    run(1000, size - 1, in_place);
    run(kMaximumBlock, 1 % size, in_place);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  form = argc < 2 || !strcmp(argv[1], "blocking") ? kBlocking
         : !strcmp(argv[1], "nonblocking")        ? kNonblocking
                                                  : kPersistent;
  times = form == kPersistent ? kStarts : 1;
  expect_may("library");
  send_buffer = calloc(kMaximumRanks, kMaximumBlock);
  receive_buffer = calloc(kMaximumRanks, kMaximumBlock);
  counts = malloc(kMaximumRanks * sizeof *counts);
  displacements = malloc(kMaximumRanks * sizeof *displacements);
  types = malloc(kMaximumRanks * sizeof *types);
  require(world_size <= kMaximumRanks);
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank == 1, -world_rank, &part);
  expect_label(part, "MPI_Comm_split");
  on(MPI_COMM_WORLD);
  on(part);
  on(MPI_COMM_SELF);
  MPI_Comm_free(&part);
  report_ok("collectives");
  MPI_Finalize();
  return 0;
}

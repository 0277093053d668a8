// SPDX-License-Identifier: BSD-3-Clause
// Intercommunicators: create, dup, merge (both orders), split and point-to-point across them.
#include "../expect.h"

static char out[5000], in[100000];

// Everybody sends 100 * (its rank + 1) bytes to every rank of the other side.
static void across(MPI_Comm inter, const char* made_by) {
  int rank, remote;
  MPI_Status status;
  expect_label(inter, made_by);
  MPI_Comm_rank(inter, &rank);
  MPI_Comm_remote_size(inter, &remote);
  MPI_Request* requests = malloc(sizeof(MPI_Request) * (size_t)remote);
  for (int i = 0; i < remote; i++) {
    MPI_Isend(out, 100 * (rank + 1), MPI_BYTE, i, 3, inter, &requests[i]);
    expect_message(inter, i, 100 * (rank + 1), 1);
  }
  for (int i = 0; i < remote; i++) {
    int count;
    MPI_Recv(in, (int)sizeof in, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    require(count == 100 * (status.MPI_SOURCE + 1));
  }
  MPI_Waitall(remote, requests, MPI_STATUSES_IGNORE);
  free(requests);
}

static void around(MPI_Comm comm, const char* made_by) {
  int rank, size;
  expect_label(comm, made_by);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Sendrecv(out, 33, MPI_BYTE, (rank + 1) % size, 1, in, 33, MPI_BYTE, (rank + size - 1) % size,
               1, comm, MPI_STATUS_IGNORE);
  expect_message(comm, (rank + 1) % size, 33, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  expect_may("library");
  // Three groups: rank 0 is alone, the others are split in two, in reversed order.
  int color = world_rank == 0 ? MPI_UNDEFINED : world_rank % 2;
  MPI_Comm half, inter, merged, dup, split;
  MPI_Comm_split(MPI_COMM_WORLD, color, -world_rank, &half);
  if (half != MPI_COMM_NULL) {
    expect_label(half, "MPI_Comm_split");
    // The leaders are the highest odd and even ranks; they meet over the world.
    int highest_odd = world_size - 1 - (world_size % 2),
        highest_even = world_size - 2 + (world_size % 2);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, color ? highest_even : highest_odd, 9, &inter);
    across(inter, "MPI_Intercomm_create");
    MPI_Comm_dup(inter, &dup);
    across(dup, "MPI_Comm_dup");
    MPI_Comm_free(&dup);
    MPI_Intercomm_merge(inter, color, &merged);
    around(merged, "MPI_Intercomm_merge");
    MPI_Comm_free(&merged);
    MPI_Intercomm_merge(inter, !color, &merged);
    around(merged, "MPI_Intercomm_merge");
    MPI_Comm_free(&merged);
    int rank;
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_split(inter, rank == 0 ? 0 : MPI_UNDEFINED, 0, &split);
    if (split != MPI_COMM_NULL) {
      across(split, "MPI_Comm_split");
      MPI_Comm_free(&split);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
  }
  report_ok("intercomm");
  MPI_Finalize();
  return 0;
}

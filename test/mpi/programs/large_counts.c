// SPDX-License-Identifier: BSD-3-Clause
// The forms for large counts (MPI 4.0, section 2.5.8): their messages have the classes of the other
// forms, also where one member of a collective calls one form and the rest the other.
#include "../expect.h"

static char out[8 * 1000], in[8 * 1000];

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  expect_may("library");
  const MPI_Comm world = MPI_COMM_WORLD;
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  MPI_Request requests[2];
  MPI_Count counts[8], long_count;
  MPI_Aint displacements[8];
  MPI_Status status;
  MPI_Sendrecv_c(out, 700, MPI_BYTE, next, 1, in, 1000, MPI_BYTE, previous, 1, world, &status);
  MPI_Get_count_c(&status, MPI_BYTE, &long_count);
  require(long_count == 700);
  expect_message(world, next, 700, 1);
  MPI_Irecv_c(in, 1000, MPI_BYTE, previous, 2, world, requests);
  MPI_Isend_c(out, 800, MPI_BYTE, next, 2, world, requests + 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  expect_message(world, next, 800, 1);
  MPI_Recv_init_c(in, 1000, MPI_BYTE, previous, 3, world, requests);
  MPI_Send_init_c(out, 900, MPI_BYTE, next, 3, world, requests + 1);
  for (int i = 0; i < 3; i++)
    MPI_Startall(2, requests), MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  expect_message(world, next, 900, 3);
  MPI_Request_free(requests), MPI_Request_free(requests + 1);
  MPI_Isendrecv_c(out, 600, MPI_BYTE, next, 4, in, 1000, MPI_BYTE, previous, 4, world, requests);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  expect_message(world, next, 600, 1);

  for (int i = 0; i < world_size && i < 8; i++) counts[i] = 1000, displacements[i] = 1000 * i;
  MPI_Bcast_c(out, 5000, MPI_BYTE, 1, world);
  expect_collective("MPI_Bcast", world, kBcast, 1, 5000, 1);
  MPI_Alltoallv_c(out, counts, displacements, MPI_BYTE, in, counts, displacements, MPI_BYTE, world);
  expect_collective("MPI_Alltoallv", world, kAlltoall, -1, 1000, 1);
  MPI_Iallgather_c(out, 1000, MPI_BYTE, in, 1000, MPI_BYTE, world, requests);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  expect_collective("MPI_Iallgather", world, kAllgather, -1, 1000, 1);
  if (world_rank == 0) {
    MPI_Allreduce(out, in, 800, MPI_BYTE, MPI_BOR, world);
  } else {
    MPI_Allreduce_c(out, in, 800, MPI_BYTE, MPI_BOR, world);
  }
  expect_collective("MPI_Allreduce", world, kAllreduce, -1, 800, 1);
  MPI_Gather_init_c(out, 1000, MPI_BYTE, in, 1000, MPI_BYTE, 0, world, MPI_INFO_NULL, requests);
  MPI_Start(requests), MPI_Wait(requests, MPI_STATUS_IGNORE), MPI_Request_free(requests);
  expect_collective("MPI_Gather_init", world, kGather, 0, 1000, 1);
  report_ok("large_counts");
  MPI_Finalize();
  return 0;
}

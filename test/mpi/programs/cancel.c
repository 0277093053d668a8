// SPDX-License-Identifier: BSD-3-Clause
// Cancelled receives count nothing; a receive that completed before it could be cancelled counts.
#include "../expect.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  static char out[5000], in[5000];
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  MPI_Request request, send;
  MPI_Status status;
  int cancelled;
  for (int i = 0; i < 20; i++) {
    int source = i % 2 ? MPI_ANY_SOURCE : previous;
    MPI_Irecv(in, i % 3 ? (int)sizeof in : 0, MPI_BYTE, source, 50, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    require(cancelled);
  }
  // A persistent receive: cancelled once, then used.
  MPI_Recv_init(in, (int)sizeof in, MPI_BYTE, previous, 51, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  require(cancelled);
  // `next` has cancelled its receive too, before anything is sent to it.
  MPI_Sendrecv(NULL, 0, MPI_BYTE, previous, 49, NULL, 0, MPI_BYTE, next, 49, MPI_COMM_WORLD,
               &status);
  expect_message(MPI_COMM_WORLD, previous, 0, 1);
  MPI_Start(&request);
  MPI_Send(out, 300, MPI_BYTE, next, 51, MPI_COMM_WORLD);
  expect_message(MPI_COMM_WORLD, next, 300, 1);
  MPI_Wait(&request, &status);
  MPI_Request_free(&request);
  // Cancelled, then freed instead of waited for.
  MPI_Irecv(in, 8, MPI_BYTE, previous, 52, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Request_free(&request);
  // Too late to cancel: the message is already there.
  for (int size = 0; size <= 5000; size += 5000) {
    MPI_Irecv(in, (int)sizeof in, MPI_BYTE, previous, 53, MPI_COMM_WORLD, &request);
    MPI_Isend(out, size, MPI_BYTE, next, 53, MPI_COMM_WORLD, &send);
    expect_message(MPI_COMM_WORLD, next, size, 1);
    // The later message from the same source says that the earlier one has been matched.
    MPI_Sendrecv(out, 1, MPI_BYTE, next, 54, in, 1, MPI_BYTE, previous, 54, MPI_COMM_WORLD,
                 &status);
    expect_message(MPI_COMM_WORLD, next, 1, 1);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    require(!cancelled);
    MPI_Wait(&send, &status);
  }
  report_ok("cancel");
  MPI_Finalize();
  return 0;
}

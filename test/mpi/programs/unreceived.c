// SPDX-License-Identifier: BSD-3-Clause
// Messages that are sent and never received are listed apart from the traffic: short and long ones,
// and those on a communicator that is freed.
#include "../expect.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  static char buffer[1000], large[100000];
  MPI_Comm dup, freed;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  expect_label(dup, "MPI_Comm_dup");
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &freed);
  expect_label(freed, "MPI_Comm_split");
  expect_may("library");
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  // Lost ones first, so that the received ones overtake them in the queue.
  for (int i = 0; i < 3; i++) {
    MPI_Send(buffer, 100 * i, MPI_BYTE, next, 1, MPI_COMM_WORLD);  // 0, 100 and 200 bytes
    expect_unreceived(MPI_COMM_WORLD, next, 100 * i, 1);
  }
  MPI_Request request;
  MPI_Isend(buffer, 700, MPI_BYTE, next, 1, dup, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_unreceived(dup, next, 700, 1);
  MPI_Isend(large, sizeof large, MPI_BYTE, next, 1, MPI_COMM_WORLD, &request);  // never completes
  expect_unreceived(MPI_COMM_WORLD, next, sizeof large, 1);
  MPI_Send(buffer, 30, MPI_BYTE, next, 1, freed);
  expect_unreceived(freed, next, 30, 1);
  // The later message from the same process says that the earlier one is there.
  MPI_Sendrecv(buffer, 1, MPI_BYTE, next, 2, buffer, 1, MPI_BYTE, previous, 2, freed,
               MPI_STATUS_IGNORE);
  expect_message(freed, next, 1, 1);
  MPI_Comm_free(&freed);
  for (int i = 0; i < 4; i++) {
    MPI_Sendrecv(buffer, 50, MPI_BYTE, next, 2, buffer, 50, MPI_BYTE, previous, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    expect_message(MPI_COMM_WORLD, next, 50, 1);
  }
  // Probed, never received.
  MPI_Probe(previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  report_ok("unreceived");
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Receivers that pause counting while they receive: the counts differ, and nobody is accused of a
// missing receive. One message really is never received.
#include "../expect.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  static char out[100], in[100];
  int next = (world_rank + 1) % world_size;
  int previous = (world_rank + world_size - 1) % world_size;
  MPI_Send(out, 60, MPI_BYTE, next, 1, MPI_COMM_WORLD);
  expect_unreceived(MPI_COMM_WORLD, next, 60, 1);
  for (int i = 0; i < 3; i++) {
    MPI_Send(out, 20, MPI_BYTE, next, 2, MPI_COMM_WORLD);
    expect_uncounted(MPI_COMM_WORLD, next, 20, 1);
  }
  MPI_Sendrecv(out, 7, MPI_BYTE, next, 3, in, 7, MPI_BYTE, previous, 3, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  expect_message(MPI_COMM_WORLD, next, 7, 1);
  MPI_Pcontrol(0);
  for (int i = 0; i < 3; i++) {
    MPI_Recv(in, 100, MPI_BYTE, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Pcontrol(1);
  MPI_Sendrecv(out, 9, MPI_BYTE, next, 3, in, 9, MPI_BYTE, previous, 3, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  expect_message(MPI_COMM_WORLD, next, 9, 1);
  report_ok("uncounted_receives");
  MPI_Finalize();
  return 0;
}

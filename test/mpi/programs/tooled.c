// SPDX-License-Identifier: BSD-3-Clause
// The program that runs under tool.c: sends and a communicator, whose calls the tool counts.
#include "../expect.h"

int main(int argc, char** argv) {
  static char data[600];
  MPI_Init(&argc, &argv);
  expect_start();
  expect_may("library");
  MPI_Comm dup;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  expect_label(dup, "MPI_Comm_dup");
  for (int i = 0; i < 10; i++) {
    MPI_Comm comm = i % 2 ? dup : MPI_COMM_WORLD;
    if (world_rank == 0) {
      MPI_Send(data, 60 * i, MPI_BYTE, 1, 0, comm);
      expect_message(comm, 1, 60 * i, 1);
    }
    if (world_rank == 1) MPI_Recv(data, 600, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
  }
  MPI_Pcontrol(7, "solver", 123456789012L);
  MPI_Comm_free(&dup);
  report_ok("tooled");
  MPI_Finalize();
  return 0;
}

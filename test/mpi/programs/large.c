// SPDX-License-Identifier: BSD-3-Clause
// Messages of more than 2 GiB: lengths do not fit into 31 bits. The datatype has extent 0, so that
// the 2,100 elements of 1 MiB share one small buffer: the test needs neither the memory nor the
// page faults.
#include "../expect.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  const int element = 1 << 20, count = 2100;
  const MPI_Count size = (MPI_Count)element * count;  // 2,202,009,600 bytes
  MPI_Datatype block, type;
  MPI_Type_contiguous(element, MPI_BYTE, &block);
  MPI_Type_create_resized(block, 0, 0, &type);
  MPI_Type_commit(&type);
  char* buffer = calloc((size_t)element + 1, 1);
  if (world_rank == 0) {
    buffer[element - 1] = 42;
    MPI_Send(buffer, count, type, 1, 0, MPI_COMM_WORLD);
    expect_message(MPI_COMM_WORLD, 1, size, 1);
  } else if (world_rank == 1) {
    MPI_Status status;
    MPI_Count elements;
    MPI_Recv(buffer, count, type, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    MPI_Get_elements_x(&status, MPI_BYTE, &elements);
    require(elements == size && buffer[element - 1] == 42);
  }
  MPI_Type_free(&type);
  MPI_Type_free(&block);
  free(buffer);
  report_ok("large");
  MPI_Finalize();
  return 0;
}

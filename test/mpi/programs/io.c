// SPDX-License-Identifier: BSD-3-Clause
// MPI-IO: collective and independent reads and writes, with messages of the program's own in
// between. What two-phase I/O sends between the ranks is "io", nothing else.
#include "../expect.h"

enum { kBlock = 1000, kBlocks = 200 };
static char out[kBlock * kBlocks], in[kBlock * kBlocks];

static void between(int size) {
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  MPI_Sendrecv(out, size, MPI_BYTE, next, 1, in, size, MPI_BYTE, previous, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  expect_message(MPI_COMM_WORLD, next, size, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  expect_may("library");
  expect_may("io");
  const char* directory = getenv("TEST_SCRATCH");
  char path[4096];
  snprintf(path, sizeof path, "%s/io.data", directory ? directory : "/tmp");
  MPI_File file;
  MPI_Request request;
  MPI_Offset where = (MPI_Offset)world_rank * kBlock;
  require(MPI_File_open(MPI_COMM_WORLD, path,
                        MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
  between(10);
  fill(out, sizeof out, (unsigned)world_rank);
  // Independent.
  MPI_File_write_at(file, where, out, kBlock, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_read_at(file, where, in, kBlock, MPI_BYTE, MPI_STATUS_IGNORE);
  verify(in, kBlock, (unsigned)world_rank);
  between(20);
  // Collective, interleaved block by block, so that data has to change hands.
  MPI_Datatype view;
  MPI_Type_vector(kBlocks, kBlock, kBlock * world_size, MPI_BYTE, &view);
  MPI_Type_commit(&view);
  MPI_File_set_view(file, where, MPI_BYTE, view, "native", MPI_INFO_NULL);
  MPI_File_write_all(file, out, sizeof out, MPI_BYTE, MPI_STATUS_IGNORE);
  between(30);
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  MPI_File_read_all(file, in, sizeof in, MPI_BYTE, MPI_STATUS_IGNORE);
  verify(in, sizeof in, (unsigned)world_rank);
  MPI_File_write_at_all(file, 0, out, sizeof out, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_iwrite_at(file, 0, out, kBlock, MPI_BYTE, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_write_ordered(file, out, 10, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Offset size;
  MPI_File_get_size(file, &size);
  MPI_File_set_size(file, size);
  between(40);
  MPI_File_close(&file);
  MPI_Type_free(&view);
  if (world_rank == 0) expect_at_least_anywhere("io", 1, 1);
  report_ok("io");
  MPI_Finalize();
  return 0;
}

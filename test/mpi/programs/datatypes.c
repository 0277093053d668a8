// SPDX-License-Identifier: BSD-3-Clause
// Derived datatypes: a message's length is what travels (count times type size), not the extent.
#include "../expect.h"

#include <stddef.h>

struct particle {
  char kind;
  double position[3];
  int cell;
};

static int next, previous;

// Sends `count` of `type` around the ring; receives them as packed bytes of another datatype.
static void ring(const void* out, int count, MPI_Datatype type) {
  int size, got;
  MPI_Type_size(type, &size);
  char* in = malloc((size_t)size * (size_t)count + 1000);
  MPI_Request request;
  MPI_Status status;
  MPI_Isend(out, count, type, next, 0, MPI_COMM_WORLD, &request);
  expect_message(MPI_COMM_WORLD, next, (long long)size * count, 1);
  MPI_Recv(in, size * count + 1000, MPI_PACKED, previous, 0, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_PACKED, &got);
  require(got == size * count);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  // The same again, received in the same layout and posted for one element more.
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type, &lower, &extent);
  char* same = calloc((size_t)(count + 1), (size_t)(extent + 4096));
  MPI_Isend(out, count, type, next, 1, MPI_COMM_WORLD, &request);
  expect_message(MPI_COMM_WORLD, next, (long long)size * count, 1);
  MPI_Recv(same, count + 1, type, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, type, &got);
  require(got == count || size == 0);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(same);
  free(in);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  next = (world_rank + 1) % world_size;
  previous = (world_rank + world_size - 1) % world_size;
  char* memory = calloc(1, 1 << 20);
  MPI_Datatype type, other;

  MPI_Type_vector(7, 3, 11, MPI_INT, &type);  // 84 bytes with holes
  MPI_Type_commit(&type);
  ring(memory, 1, type);
  ring(memory, 100, type);  // 8,400 bytes
  MPI_Type_free(&type);

  int lengths[3] = {1, 3, 1};
  MPI_Aint offsets[3] = {offsetof(struct particle, kind), offsetof(struct particle, position),
                         offsetof(struct particle, cell)};
  MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
  MPI_Type_create_struct(3, lengths, offsets, types, &other);
  MPI_Type_create_resized(other, 0, sizeof(struct particle), &type);  // 29 bytes in 40
  MPI_Type_commit(&type);
  ring(memory, 3, type);
  ring(memory, 4000, type);  // 116,000 bytes: rendezvous
  MPI_Type_free(&type);
  MPI_Type_free(&other);

  int blocks[3] = {2, 0, 5}, displacements[3] = {0, 100, 40};
  MPI_Type_indexed(3, blocks, displacements, MPI_DOUBLE, &type);  // 56 bytes
  MPI_Type_commit(&type);
  ring(memory, 2, type);
  MPI_Type_free(&type);

  int sizes[2] = {64, 64}, subsizes[2] = {10, 3}, starts[2] = {4, 5};
  MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_SHORT, &type);  // 60 bytes
  MPI_Type_commit(&type);
  ring(memory, 5, type);
  MPI_Type_free(&type);

  MPI_Type_contiguous(0, MPI_INT, &type);  // a type without data
  MPI_Type_commit(&type);
  ring(memory, 9, type);
  MPI_Type_free(&type);

  ring(memory, 10, MPI_DOUBLE_INT);  // 120 bytes in 160
  ring(memory, 6, MPI_C_DOUBLE_COMPLEX);
  ring(memory, 0, MPI_DOUBLE);

  // Packed by hand.
  char packed[64];
  int position = 0, number = 7;
  double value = 1.5;
  MPI_Pack(&number, 1, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD);
  MPI_Pack(&value, 1, MPI_DOUBLE, packed, sizeof packed, &position, MPI_COMM_WORLD);
  ring(packed, position, MPI_PACKED);
  report_ok("datatypes");
  MPI_Finalize();
  return 0;
}

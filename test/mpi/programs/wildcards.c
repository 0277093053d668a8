// SPDX-License-Identifier: BSD-3-Clause
// Receives with MPI_ANY_SOURCE and MPI_ANY_TAG into buffers far larger than the message: the true
// source and the true length count. Several senders race; the sums are the same in any order.
#include "../expect.h"

enum { kRounds = 25, kPosted = 200000 };
static const int sizes[] = {0, 1, 8, 256, 257, 4000, 70000};
enum { kSizes = sizeof sizes / sizeof *sizes };

static int size_of(int sender, int round) { return sizes[(sender * 3 + round) % kSizes]; }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  char* buffer = malloc(kPosted);
  int others = world_size - 1;
  // Blocking receives at rank 0 from everybody.
  if (world_rank == 0) {
    int* seen = calloc((size_t)world_size, sizeof(int));
    for (int i = 0; i < kRounds * others; i++) {
      MPI_Status status;
      int count;
      MPI_Recv(buffer, kPosted, MPI_BYTE, MPI_ANY_SOURCE, i % 2 ? MPI_ANY_TAG : 5, MPI_COMM_WORLD,
               &status);
      MPI_Get_count(&status, MPI_BYTE, &count);
      require(count == size_of(status.MPI_SOURCE, seen[status.MPI_SOURCE]++));
      verify(buffer, (size_t)count, (unsigned)status.MPI_SOURCE);
    }
    free(seen);
    for (int i = 1; i < world_size; i++) {
      MPI_Send(NULL, 0, MPI_BYTE, i, 6,
               MPI_COMM_WORLD);  // nothing below is met by MPI_ANY_TAG above
      expect_message(MPI_COMM_WORLD, i, 0, 1);
    }
  } else {
    for (int round = 0; round < kRounds; round++) {
      int size = size_of(world_rank, round);
      fill(buffer, (size_t)size, (unsigned)world_rank);
      MPI_Send(buffer, size, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
      expect_message(MPI_COMM_WORLD, 0, size, 1);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  // Non-blocking and persistent wildcard receives at every rank, from every other rank.
  char* out = malloc(kPosted);
  MPI_Request* requests = malloc(sizeof(MPI_Request) * (size_t)(2 * others));
  for (int round = 0; round < 4; round++) {
    char* in = malloc((size_t)others * kPosted);
    int size = sizes[(round + 2) % kSizes];
    fill(out, (size_t)size, (unsigned)round);
    for (int i = 0; i < others; i++) {
      char* mine = in + (size_t)i * kPosted;
      if (round % 2) {
        MPI_Recv_init(mine, kPosted, MPI_BYTE, MPI_ANY_SOURCE, 10 + round, MPI_COMM_WORLD,
                      &requests[i]);
        MPI_Start(&requests[i]);
      } else {
        MPI_Irecv(mine, kPosted, MPI_BYTE, MPI_ANY_SOURCE, 10 + round, MPI_COMM_WORLD,
                  &requests[i]);
      }
    }
    for (int i = 1; i < world_size; i++) {
      int to = (world_rank + i) % world_size;
      MPI_Isend(out, size, MPI_BYTE, to, 10 + round, MPI_COMM_WORLD, &requests[others + i - 1]);
      expect_message(MPI_COMM_WORLD, to, size, 1);
    }
    MPI_Waitall(2 * others, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < others; i++) {
      verify(in + (size_t)i * kPosted, (size_t)size, (unsigned)round);
      if (round % 2) MPI_Request_free(&requests[i]);
    }
    free(in);
  }
  report_ok("wildcards");
  MPI_Finalize();
  return 0;
}

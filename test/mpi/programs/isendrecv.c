// SPDX-License-Identifier: BSD-3-Clause
// MPI_Isendrecv and MPI_Isendrecv_replace (MPI 4.0, section 3.10): one request for a send and a
// receive, completed in every way; to a neighbour, to oneself and to MPI_PROC_NULL.
#include "../expect.h"

static const int sizes[] = {0, 8, 257, 5000, 100000};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  static char out[100000], in[100000];
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  int up = world_rank + 1 < world_size ? world_rank + 1 : MPI_PROC_NULL;
  int down = world_rank > 0 ? world_rank - 1 : MPI_PROC_NULL;
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    int size = sizes[s], flag = 0, index;
    MPI_Request requests[2];
    fill(out, (size_t)size, s);
    MPI_Isendrecv(out, size, MPI_BYTE, next, 1, in, (int)sizeof in, MPI_BYTE, previous, 1,
                  MPI_COMM_WORLD, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    verify(in, (size_t)size, s);
    expect_message(MPI_COMM_WORLD, next, size, 1);

    fill(out, (size_t)size, s + 100);
    MPI_Isendrecv_replace(out, size, MPI_BYTE, previous, 2, next, 2, MPI_COMM_WORLD, requests);
    while (!flag) MPI_Test(requests, &flag, MPI_STATUS_IGNORE);
    verify(out, (size_t)size, s + 100);
    expect_message(MPI_COMM_WORLD, previous, size, 1);

    // Two at once, one of them along an open chain.
    MPI_Isendrecv(out, size, MPI_BYTE, up, 3, in, (int)sizeof in, MPI_BYTE, down, 3, MPI_COMM_WORLD,
                  requests);
    MPI_Isendrecv(out, size, MPI_BYTE, world_rank, 4, in, 0, MPI_BYTE, MPI_PROC_NULL, 4,
                  MPI_COMM_WORLD, requests + 1);
    if (up != MPI_PROC_NULL) expect_message(MPI_COMM_WORLD, up, size, 1);
    expect_message(MPI_COMM_WORLD, world_rank, size, 1);
    static char self[100000];
    MPI_Recv(self, (int)sizeof self, MPI_BYTE, world_rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  report_ok("isendrecv");
  MPI_Finalize();
  return 0;
}

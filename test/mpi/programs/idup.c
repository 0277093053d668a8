// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_idup: messages on the old communicator between start and completion, and on the new one
// right after completion, with every way of completing the request. None may be missed.
#include "../expect.h"

enum { kForms = 6 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  expect_may("library");
  static char out[6000], in[6000];
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  for (int form = 0; form < kForms; form++) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;
    int index, indices[2], flag = 0, size = 1000 * form;
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &requests[0]);
    MPI_Sendrecv(out, size, MPI_BYTE, next, 1, in, 6000, MPI_BYTE, previous, 1, MPI_COMM_WORLD,
                 &status);
    expect_message(MPI_COMM_WORLD, next, size, 1);
    switch (form) {
      case 0: MPI_Wait(&requests[0], &status); break;
      case 1:
        while (!flag) MPI_Test(&requests[0], &flag, &status);
        break;
      case 2: MPI_Waitany(2, requests, &index, &status); break;
      case 3: MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); break;
      case 4: MPI_Waitsome(2, requests, &index, indices, MPI_STATUSES_IGNORE); break;
      default:
        while (!flag) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
        break;
    }
    // Some have completed while others have not yet: send at once.
    for (int i = 0; i < 5; i++) {
      MPI_Sendrecv(out, size + i, MPI_BYTE, next, 2, in, 6000, MPI_BYTE, MPI_ANY_SOURCE, 2, comm,
                   &status);
      if (i == 0) expect_label(comm, "MPI_Comm_idup");
      expect_message(comm, next, size + i, 1);
      require(status.MPI_SOURCE == previous);
    }
    // Two at the same time, from the new one.
    MPI_Comm first, second;
    MPI_Comm_idup(comm, &first, &requests[0]);
    MPI_Comm_idup(comm, &second, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(out, 7, MPI_BYTE, next, 2, in, 6000, MPI_BYTE, previous, 2, second, &status);
    MPI_Sendrecv(out, 9, MPI_BYTE, next, 2, in, 6000, MPI_BYTE, previous, 2, first, &status);
    expect_label(first, "MPI_Comm_idup");
    expect_label(second, "MPI_Comm_idup");
    expect_message(second, next, 7, 1);
    expect_message(first, next, 9, 1);
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
    MPI_Comm_free(&comm);
  }
  report_ok("idup");
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Messages longer than the posted buffer: the receive fails, the sent length is what was sent.
#include "../expect.h"

static const int sizes[] = {16, 257, 5000, 100000};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  static char buffer[100000];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int form = 0; form < 4; form++) {
      MPI_Request send, receive;
      MPI_Status status;
      int error = MPI_SUCCESS, class_of_error;
      MPI_Message message;
      if (form == 0 || form == 3) {
        // Posted before the message exists.
        MPI_Irecv(buffer, 8, MPI_BYTE, form ? MPI_ANY_SOURCE : previous, form, MPI_COMM_WORLD,
                  &receive);
      }
      MPI_Isend(buffer, sizes[s], MPI_BYTE, next, form, MPI_COMM_WORLD, &send);
      expect_message(MPI_COMM_WORLD, next, sizes[s], 1);
      if (form == 0 || form == 3) error = MPI_Wait(&receive, &status);
      if (form == 1) {
        MPI_Probe(previous, form, MPI_COMM_WORLD, &status);
        error = MPI_Recv(buffer, 8, MPI_BYTE, previous, form, MPI_COMM_WORLD, &status);
      }
      if (form == 2) {
        MPI_Mprobe(previous, form, MPI_COMM_WORLD, &message, &status);
        error = MPI_Mrecv(buffer, 8, MPI_BYTE, &message, &status);
      }
      MPI_Error_class(error, &class_of_error);
      require(class_of_error == MPI_ERR_TRUNCATE);
      require(MPI_Wait(&send, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
  report_ok("truncation");
  MPI_Finalize();
  return 0;
}

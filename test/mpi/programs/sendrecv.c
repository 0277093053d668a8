// SPDX-License-Identifier: BSD-3-Clause
// MPI_Sendrecv, MPI_Sendrecv_replace, messages to oneself, and MPI_PROC_NULL, which sends nothing.
#include "../expect.h"

static const int sizes[] = {0, 8, 257, 5000, 100000};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  static char out[100000], in[100000];
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  int up = world_rank + 1 < world_size ? world_rank + 1 : MPI_PROC_NULL;
  int down = world_rank > 0 ? world_rank - 1 : MPI_PROC_NULL;
  MPI_Status status;
  MPI_Request request;
  int count, flag;
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    int size = sizes[s];
    // Both directions, of different lengths.
    fill(out, (size_t)size, s);
    MPI_Sendrecv(out, size, MPI_BYTE, next, 1, in, (int)sizeof in, MPI_BYTE, previous, 1,
                 MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    require(count == size && status.MPI_SOURCE == previous);
    verify(in, (size_t)size, s);
    expect_message(MPI_COMM_WORLD, next, size, 1);

    fill(out, (size_t)size, s + 100);
    MPI_Sendrecv_replace(out, size, MPI_BYTE, previous, 2, next, 2, MPI_COMM_WORLD, &status);
    verify(out, (size_t)size, s + 100);
    expect_message(MPI_COMM_WORLD, previous, size, 1);

    // An open chain: the ends talk to nobody.
    MPI_Sendrecv(out, size, MPI_BYTE, up, 3, in, (int)sizeof in, MPI_BYTE, down, 3, MPI_COMM_WORLD,
                 &status);
    if (up != MPI_PROC_NULL) expect_message(MPI_COMM_WORLD, up, size, 1);
    MPI_Sendrecv_replace(out, size, MPI_BYTE, down, 4, up, 4, MPI_COMM_WORLD, &status);
    if (down != MPI_PROC_NULL) expect_message(MPI_COMM_WORLD, down, size, 1);

    // To oneself.
    MPI_Sendrecv(out, size, MPI_BYTE, world_rank, 5, in, (int)sizeof in, MPI_BYTE, world_rank, 5,
                 MPI_COMM_WORLD, &status);
    expect_message(MPI_COMM_WORLD, world_rank, size, 1);
    MPI_Sendrecv(out, size, MPI_BYTE, 0, 6, in, (int)sizeof in, MPI_BYTE, MPI_ANY_SOURCE, 6,
                 MPI_COMM_SELF, &status);
    expect_message(MPI_COMM_SELF, 0, size, 1);
  }

  // MPI_PROC_NULL in every call that takes a peer.
  MPI_Send(out, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Ssend(out, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Rsend(out, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Bsend(out, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Recv(in, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_BYTE, &count);
  require(count == 0 && status.MPI_SOURCE == MPI_PROC_NULL);
  MPI_Isend(out, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  MPI_Irecv(in, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  MPI_Send_init(out, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Wait(&request, &status);
  MPI_Request_free(&request);
  MPI_Recv_init(in, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Wait(&request, &status);
  MPI_Request_free(&request);
  MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, &status);
  require(flag);
  MPI_Message message;
  MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
  require(message == MPI_MESSAGE_NO_PROC);
  MPI_Mrecv(in, 8, MPI_BYTE, &message, &status);
  report_ok("sendrecv");
  MPI_Finalize();
  return 0;
}

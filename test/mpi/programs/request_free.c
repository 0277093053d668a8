// SPDX-License-Identifier: BSD-3-Clause
// MPI_Request_free on active sends and receives, zero bytes, eager and rendezvous: each message
// still counts once, although nobody waits for it.
#include "../expect.h"

static const int sizes[] = {0, 8, 257, 5000, 100000};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  static char out[5][100000], in[100000], freed[100000];
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  for (unsigned s = 0; s < 5; s++) {
    int size = sizes[s];
    MPI_Request request, send;
    MPI_Status status;
    // A freed send; the buffer is never touched again.
    fill(out[s], (size_t)size, s);
    MPI_Isend(out[s], size, MPI_BYTE, next, 1, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    require(request == MPI_REQUEST_NULL);
    expect_message(MPI_COMM_WORLD, next, size, 1);
    MPI_Recv(in, size, MPI_BYTE, previous, 1, MPI_COMM_WORLD, &status);
    verify(in, (size_t)size, s);

    MPI_Issend(out[s], size, MPI_BYTE, next, 2, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    expect_message(MPI_COMM_WORLD, next, size, 1);
    MPI_Recv(in, size, MPI_BYTE, previous, 2, MPI_COMM_WORLD, &status);

    // A freed receive; its last byte, or a later message, shows that it has arrived.
    memset(freed, 0, sizeof freed);
    MPI_Irecv(freed, size, MPI_BYTE, s % 2 ? MPI_ANY_SOURCE : previous, 3, MPI_COMM_WORLD,
              &request);
    MPI_Request_free(&request);
    MPI_Isend(out[s], size, MPI_BYTE, next, 3, MPI_COMM_WORLD, &send);
    expect_message(MPI_COMM_WORLD, next, size, 1);
    MPI_Sendrecv(out[s], 1, MPI_BYTE, next, 4, in, 1, MPI_BYTE, previous, 4, MPI_COMM_WORLD,
                 &status);
    expect_message(MPI_COMM_WORLD, next, 1, 1);
    MPI_Wait(&send, &status);
    while (size > 0 && *(volatile char*)(freed + size - 1) != out[s][size - 1]) {
      int flag;
      MPI_Iprobe(previous, 999, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }

    // A persistent send freed while active.
    MPI_Irecv(in, size, MPI_BYTE, previous, 5, MPI_COMM_WORLD, &request);
    MPI_Send_init(out[s], size, MPI_BYTE, next, 5, MPI_COMM_WORLD, &send);
    MPI_Start(&send);
    MPI_Request_free(&send);
    expect_message(MPI_COMM_WORLD, next, size, 1);
    MPI_Wait(&request, &status);
  }
  // An empty freed receive, and at its address the next one, whose message is there already: that
  // one's beginning says nothing of the empty one.
  for (int i = 0; i < 20; i++) {
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(freed, 0, MPI_BYTE, previous, 7, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Send(out[0], 0, MPI_BYTE, next, 7, MPI_COMM_WORLD);
    expect_message(MPI_COMM_WORLD, next, 0, 1);
    MPI_Send(out[1], 8, MPI_BYTE, next, 8, MPI_COMM_WORLD);
    expect_message(MPI_COMM_WORLD, next, 8, 1);
    MPI_Send(out[1], 8, MPI_BYTE, next, 9, MPI_COMM_WORLD);
    expect_message(MPI_COMM_WORLD, next, 8, 1);
    MPI_Recv(in, 8, MPI_BYTE, previous, 9, MPI_COMM_WORLD, &status);
    MPI_Irecv(in, 8, MPI_BYTE, previous, 8, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
  }
  // All of it has left before anybody finalizes.
  for (int i = 0; i < 2; i++) {
    MPI_Sendrecv(out[0], 1, MPI_BYTE, next, 6, in, 1, MPI_BYTE, previous, 6, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    expect_message(MPI_COMM_WORLD, next, 1, 1);
  }
  report_ok("request_free");
  MPI_Finalize();
  return 0;
}

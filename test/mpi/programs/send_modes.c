// SPDX-License-Identifier: BSD-3-Clause
// Every send mode (standard, buffered, synchronous, ready), blocking, non-blocking and persistent
// (Start and Startall), from 0 bytes to 8 MiB, around a ring.
#include "../expect.h"

enum { kMaximum = 8 << 20, kPersistentStarts = 3 };
static const int sizes[] = {0, 8, 256, 257, 5000, 100000, kMaximum};
enum mode { kStandard, kBuffered, kSynchronous, kReady, kModes };

static int next, previous;
static char *out, *in, *second;

// Tells `previous` that a receive is posted, and waits for the same from `next`: ready sends need
// it.
static void handshake(void) {
  MPI_Request request;
  MPI_Irecv(NULL, 0, MPI_BYTE, next, 999, MPI_COMM_WORLD, &request);
  MPI_Send(NULL, 0, MPI_BYTE, previous, 999, MPI_COMM_WORLD);
  expect_message(MPI_COMM_WORLD, previous, 0, 1);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void blocking(enum mode mode, int size, int tag) {
  switch (mode) {
    case kStandard: MPI_Send(out, size, MPI_BYTE, next, tag, MPI_COMM_WORLD); break;
    case kBuffered: MPI_Bsend(out, size, MPI_BYTE, next, tag, MPI_COMM_WORLD); break;
    case kSynchronous: MPI_Ssend(out, size, MPI_BYTE, next, tag, MPI_COMM_WORLD); break;
    default: MPI_Rsend(out, size, MPI_BYTE, next, tag, MPI_COMM_WORLD); break;
  }
}

static void nonblocking(enum mode mode, int size, int tag, MPI_Request* request) {
  switch (mode) {
    case kStandard: MPI_Isend(out, size, MPI_BYTE, next, tag, MPI_COMM_WORLD, request); break;
    case kBuffered: MPI_Ibsend(out, size, MPI_BYTE, next, tag, MPI_COMM_WORLD, request); break;
    case kSynchronous: MPI_Issend(out, size, MPI_BYTE, next, tag, MPI_COMM_WORLD, request); break;
    default: MPI_Irsend(out, size, MPI_BYTE, next, tag, MPI_COMM_WORLD, request); break;
  }
}

static void persistent(enum mode mode, int size, int tag, MPI_Request* request) {
  switch (mode) {
    case kStandard: MPI_Send_init(out, size, MPI_BYTE, next, tag, MPI_COMM_WORLD, request); break;
    case kBuffered: MPI_Bsend_init(out, size, MPI_BYTE, next, tag, MPI_COMM_WORLD, request); break;
    case kSynchronous:
      MPI_Ssend_init(out, size, MPI_BYTE, next, tag, MPI_COMM_WORLD, request);
      break;
    default: MPI_Rsend_init(out, size, MPI_BYTE, next, tag, MPI_COMM_WORLD, request); break;
  }
}

static void check(int size, unsigned key) {
  verify(in, (size_t)size, key);
  memset(in, 0, (size_t)size);
}

static void run(enum mode mode, int size, int use_persistent) {
  MPI_Request requests[2];
  unsigned key = (unsigned)mode * 31u + (unsigned)size;

  fill(out, (size_t)size, key);
  MPI_Irecv(in, size, MPI_BYTE, previous, 1, MPI_COMM_WORLD, &requests[0]);
  handshake();
  blocking(mode, size, 1);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  expect_message(MPI_COMM_WORLD, next, size, 1);
  check(size, key);

  MPI_Irecv(in, size, MPI_BYTE, previous, 2, MPI_COMM_WORLD, &requests[0]);
  handshake();
  nonblocking(mode, size, 2, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  expect_message(MPI_COMM_WORLD, next, size, 1);
  check(size, key);
  if (!use_persistent) return;

  // One persistent send with a persistent receive, started several times.
  MPI_Request send, receive;
  persistent(mode, size, 3, &send);
  MPI_Recv_init(in, size, MPI_BYTE, previous, 3, MPI_COMM_WORLD, &receive);
  for (int i = 0; i < kPersistentStarts; i++) {
    MPI_Start(&receive);
    handshake();
    MPI_Start(&send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    expect_message(MPI_COMM_WORLD, next, size, 1);
    // Open MPI 4.1.4 sends stale bytes when an MPI_Bsend_init request is started again while its
    // last rendezvous is under way (seen natively); the length is right.
    if (mode == kBuffered && size > 4000) continue;
    check(size, key);
  }
  MPI_Request_free(&send);
  MPI_Request_free(&receive);

  // Four at once: receives with one Startall, then sends with another.
  MPI_Request receives[2], sends[2];
  for (int i = 0; i < 2; i++) {
    persistent(mode, size, 4 + i, &sends[i]);
    MPI_Recv_init(i ? second : in, size, MPI_BYTE, previous, 4 + i, MPI_COMM_WORLD, &receives[i]);
  }
  MPI_Startall(2, receives);
  handshake();
  MPI_Startall(2, sends);
  MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
  MPI_Waitall(2, receives, MPI_STATUSES_IGNORE);
  expect_message(MPI_COMM_WORLD, next, size, 2);
  check(size, key);
  for (int i = 0; i < 2; i++) {
    MPI_Request_free(&sends[i]);
    MPI_Request_free(&receives[i]);
  }

  // Made and freed without ever being started: nothing was sent.
  persistent(mode, size, 6, &send);
  MPI_Request_free(&send);
}

// An argument leaves the persistent requests out, for witnesses that cannot see them.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  int attached = 2 * (kMaximum + MPI_BSEND_OVERHEAD) + 4096;
  void* buffer = malloc((size_t)attached);
  out = malloc(kMaximum);
  in = malloc(kMaximum);
  second = malloc(kMaximum);
  next = (world_rank + 1) % world_size;
  previous = (world_rank + world_size - 1) % world_size;
  MPI_Buffer_attach(buffer, attached);
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int mode = 0; mode < kModes; mode++) run((enum mode)mode, sizes[s], argc < 2);
  MPI_Buffer_detach(&buffer, &attached);
  report_ok("send_modes");
  MPI_Finalize();
  return 0;
}

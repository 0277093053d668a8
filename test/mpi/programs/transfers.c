// SPDX-License-Identifier: BSD-3-Clause
// Messages in each way that makes PERUSE report a transfer differently, each way on a communicator of its own.
// Before and after each, so many posted receives that the library that records may leave their begin and end
// to the other events. Two ranks.
#include <mpi.h>
#include <stdlib.h>

enum { kQuiet = 40, kLargest = 100000 };
static const int sizes[] = {0, 8, 2000, kLargest};
enum { kSizes = sizeof sizes / sizeof *sizes };
static char out[kLargest], in[kLargest];
static int rank;

static void ping_pong(MPI_Comm comm, int size, int times) {
  for (int i = 0; i < 2 * times; i++) {
    if (i % 2 == rank)
      MPI_Send(out, size, MPI_BYTE, 1 - rank, 1, comm);
    else
      MPI_Recv(in, kLargest, MPI_BYTE, 1 - rank, 1, comm, MPI_STATUS_IGNORE);
  }
}

static void blocking(MPI_Comm comm, int size) { ping_pong(comm, size, kQuiet); }

static void nonblocking(MPI_Comm comm, int size) {
  MPI_Request requests[2];
  for (int i = 0; i < 4; i++) {
    MPI_Irecv(in, kLargest, MPI_BYTE, MPI_ANY_SOURCE, 2, comm, &requests[0]);
    MPI_Isend(out, size, MPI_BYTE, 1 - rank, 2, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

// A long send whose end comes only after many receives.
static void late_end(MPI_Comm comm, int size) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) MPI_Isend(out, size, MPI_BYTE, 1, 3, comm, &request);
  ping_pong(comm, 8, kQuiet);
  if (rank == 1) MPI_Recv(in, kLargest, MPI_BYTE, 0, 3, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void synchronous(MPI_Comm comm, int size) {
  if (rank == 0)
    MPI_Ssend(out, size, MPI_BYTE, 1, 4, comm);
  else
    MPI_Recv(in, kLargest, MPI_BYTE, 0, 4, comm, MPI_STATUS_IGNORE);
}

// The second message tells that the first one has arrived.
static void unexpected(MPI_Comm comm, int size) {
  if (rank == 0) {
    MPI_Request request;
    MPI_Isend(out, size, MPI_BYTE, 1, 5, comm, &request);
    MPI_Send(out, 8, MPI_BYTE, 1, 6, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(in, kLargest, MPI_BYTE, 0, 6, comm, MPI_STATUS_IGNORE);
    MPI_Recv(in, kLargest, MPI_BYTE, 0, 5, comm, MPI_STATUS_IGNORE);
  }
}

static void probed(MPI_Comm comm, int size) {
  if (rank == 0) {
    MPI_Send(out, size, MPI_BYTE, 1, 7, comm);
  } else {
    MPI_Probe(0, 7, comm, MPI_STATUS_IGNORE);
    MPI_Recv(in, kLargest, MPI_BYTE, 0, 7, comm, MPI_STATUS_IGNORE);
  }
}

static void held(MPI_Comm comm, int size) {
  if (rank == 0) {
    MPI_Send(out, size, MPI_BYTE, 1, 8, comm);
  } else {
    MPI_Message message;
    MPI_Mprobe(0, 8, comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, kLargest, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  }
}

static void persistent(MPI_Comm comm, int size) {
  MPI_Request requests[2];
  MPI_Recv_init(in, kLargest, MPI_BYTE, 1 - rank, 9, comm, &requests[0]);
  MPI_Send_init(out, size, MPI_BYTE, 1 - rank, 9, comm, &requests[1]);
  for (int i = 0; i < 4; i++) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    ping_pong(comm, 8, kQuiet);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void cancelled(MPI_Comm comm, int size) {
  MPI_Request request;
  MPI_Irecv(in, size, MPI_BYTE, 1 - rank, 10, comm, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// Comes last: from the first freed request on, Fathom watches all of them.
static void freed(MPI_Comm comm, int size) {
  MPI_Request requests[2];
  MPI_Irecv(in, kLargest, MPI_BYTE, 1 - rank, 11, comm, &requests[0]);
  MPI_Isend(out, size, MPI_BYTE, 1 - rank, 11, comm, &requests[1]);
  MPI_Request_free(&requests[0]);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  ping_pong(comm, 8, kQuiet);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // What makes Fathom keep all events of a communicator comes last: Open MPI's handles are used again.
  void (*ways[])(MPI_Comm, int) = {blocking,  nonblocking, late_end, synchronous, unexpected,
                                   cancelled, persistent,  probed,   held,        freed};
  for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int size = 0; size < kSizes; size++) {
      ping_pong(comm, 8, kQuiet);
      ways[way](comm, sizes[size]);
    }
    ping_pong(comm, 8, kQuiet);
    MPI_Comm_free(&comm);
  }
  MPI_Finalize();
  return 0;
}

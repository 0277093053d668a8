// SPDX-License-Identifier: BSD-3-Clause
// Makes one kind of wait state, a known number of times, each as long as a sleep:  waits CASE
//
// Four ranks. In phase "truth" rank 1 (in "ring" rank 0) comes DELAY late to what the others, or
// one of them, wait for in it; between rounds all meet outside of the phase.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "profiler/fathom.h"

enum { kRounds = 5, kDelay_ms = 20, kLong = 1 << 20 };

static int rank, value[4];
static char longer[kLong];

static void late(void) {
  struct timespec time = {0, kDelay_ms * 1000000L};
  nanosleep(&time, NULL);
}

static void blocking(MPI_Comm comm, int source, int tag) {
  if (rank == 1) late(), MPI_Send(value, 1, MPI_INT, 0, 3, comm);
  if (rank == 0) MPI_Recv(value, 1, MPI_INT, source, tag, comm, MPI_STATUS_IGNORE);
}

static void late_sender(void) { blocking(MPI_COMM_WORLD, 1, 3); }
static void any_source(void) { blocking(MPI_COMM_WORLD, MPI_ANY_SOURCE, 3); }
static void any_tag(void) { blocking(MPI_COMM_WORLD, 1, MPI_ANY_TAG); }

static MPI_Comm other;
static void on_other(void) { blocking(other, 1, 3); }

static void irecv_wait(void) {
  MPI_Request request;
  if (rank == 1) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Irecv(value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void persistent(void) {
  static MPI_Request request = MPI_REQUEST_NULL;
  if (request == MPI_REQUEST_NULL && rank == 1)
    MPI_Send_init(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
  if (request == MPI_REQUEST_NULL && rank == 0)
    MPI_Recv_init(value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
  if (rank == 1) late();
  if (rank < 2) MPI_Start(&request), MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void sendrecv(void) {
  if (rank == 1) late();
  if (rank < 2)
    MPI_Sendrecv(value, 1, MPI_INT, 1 - rank, 3, &value[1], 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

// Rank 0 needs the first of two messages. Rank 2's comes much later.
static void waitany(void) {
  MPI_Request requests[2];
  int index;
  if (rank == 1) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 2) late(), late(), MPI_Send(value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 0; i < 2; i++)
      MPI_Irecv(&value[i], 1, MPI_INT, 1 + i, 3 + i, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    late(), late();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

static void matched_probe(void) {
  MPI_Message message;
  MPI_Request request;
  if (rank == 1) late(), MPI_Send(longer, kLong, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Recv(value, 1, MPI_INT, 2, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(longer, kLong, MPI_CHAR, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank == 2) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
}

// Each message has a tag of its own.
static void many_tags(void) {
  static int tag = 0;
  if (rank == 1) late();
  for (int i = 0; i < 400; i++, tag++) {
    if (rank == 1) MPI_Send(value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

// Nobody is in a call that waits.
static void probe_loop(void) {
  int there = 0;
  if (rank == 1) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 0) {
    while (!there) MPI_Iprobe(1, 3, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    MPI_Recv(value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

// Several receives of one channel wait at once, and are completed in another order.
static void crossed(void) {
  MPI_Request requests[3];
  if (rank == 1)
    for (int i = 0; i < 3; i++) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 0; i < 3; i++)
      MPI_Irecv(&value[i], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[i]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
}

static void late_receiver_in_wait(void) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(longer, kLong, MPI_CHAR, 1, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank == 1) late(), MPI_Recv(longer, kLong, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Rank 0's long message to rank 2 is complete while it waits for rank 1's.
static void send_that_ends_inside_a_receive(void) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(longer, kLong, MPI_CHAR, 2, 3, MPI_COMM_WORLD, &request);
    MPI_Recv(value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank == 1) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 2) MPI_Recv(longer, kLong, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Messages of 2 and 3 are there at once.
static void waitall(void) {
  MPI_Request requests[3];
  if (rank == 1) late();
  if (rank != 0) MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 1; i < 4; i++)
      MPI_Irecv(&value[i], 1, MPI_INT, i, 3, MPI_COMM_WORLD, &requests[i - 1]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  }
}

static void late_receiver(void) {
  if (rank == 0) MPI_Send(longer, kLong, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
  if (rank == 1) late(), MPI_Recv(longer, kLong, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void ssend(void) {
  if (rank == 0) MPI_Ssend(value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
  if (rank == 1) late(), MPI_Recv(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Tag 3 is sent before rank 0 comes to receive tag 4.
static void wrong_order(void) {
  if (rank == 1) {
    MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    MPI_Send(value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    late();
    MPI_Send(value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
  }
  if (rank == 0) {
    MPI_Recv(value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void barrier(void) {
  if (rank == 1) late();
  MPI_Barrier(MPI_COMM_WORLD);
}
static void allreduce(void) {
  int sum;
  if (rank == 1) late();
  MPI_Allreduce(value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static void iallreduce(void) {
  int sum;
  MPI_Request request;
  if (rank == 1) late();
  MPI_Iallreduce(value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void bcast(void) {
  if (rank == 1) late();
  MPI_Bcast(value, 1, MPI_INT, 1, MPI_COMM_WORLD);
}
static void scatter(void) {
  int mine;
  if (rank == 1) late();
  MPI_Scatter(value, 1, MPI_INT, &mine, 1, MPI_INT, 1, MPI_COMM_WORLD);
}
static void reduce(void) {
  int sum;
  if (rank == 1) late();
  MPI_Reduce(value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}
static void gather(void) {
  int all[4];
  if (rank == 1) late();
  MPI_Gather(value, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
}
static void scan(void) {
  int sum;
  if (rank == 1) late();
  MPI_Scan(value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

// Rank 1 alone pauses counting, for some collectives before the one to which it comes late.
static void paused_on_one(void) {
  int sum;
  MPI_Request request;
  if (rank == 1) MPI_Pcontrol(0);
  MPI_Allreduce(value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Iallreduce(value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Bcast(value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Pcontrol(1);
  barrier();
}

// Rank 0's delay goes from one to the next.
static void ring(void) {
  if (rank == 0) late();
  if (rank > 0) MPI_Recv(value, 1, MPI_INT, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank < 3) MPI_Send(value, 1, MPI_INT, rank + 1, 3, MPI_COMM_WORLD);
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {{"late_sender", late_sender},
             {"any_source", any_source},
             {"any_tag", any_tag},
             {"dup", on_other},
             {"split", on_other},
             {"irecv_wait", irecv_wait},
             {"waitall", waitall},
             {"late_receiver", late_receiver},
             {"ssend", ssend},
             {"wrong_order", wrong_order},
             {"barrier", barrier},
             {"allreduce", allreduce},
             {"iallreduce", iallreduce},
             {"bcast", bcast},
             {"scatter", scatter},
             {"reduce", reduce},
             {"gather", gather},
             {"scan", scan},
             {"paused_on_one", paused_on_one},
             {"ring", ring},
             {"persistent", persistent},
             {"sendrecv", sendrecv},
             {"waitany", waitany},
             {"matched_probe", matched_probe},
             {"many_tags", many_tags},
             {"probe_loop", probe_loop},
             {"crossed", crossed},
             {"late_receiver_in_wait", late_receiver_in_wait},
             {"send_that_ends_inside_a_receive", send_that_ends_inside_a_receive}};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  if (strcmp(argv[1], "split") == 0) {
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &other);
  } else {
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
  }
  int found = 0;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    if (strcmp(cases[i].name, argv[1]) != 0) continue;
    found = 1;
    for (int round = 0; round < kRounds; round++) {
      MPI_Barrier(MPI_COMM_WORLD);
      fathom_phase_begin("truth");
      cases[i].run();
      fathom_phase_end();
    }
  }
  MPI_Finalize();
  return found ? 0 : 2;
}

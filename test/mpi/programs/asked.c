// SPDX-License-Identifier: BSD-3-Clause
// Messages of which some are always under way, so that no moment finds all channels empty.
//
// usage: asked [silent]
//
// Each rank receives from the one before it: on three tags that were posted rounds ahead, with
// MPI_ANY_SOURCE, with persistent requests and on another communicator; and of what probes have taken, it
// holds one or two at any moment, and receives them in another order. The n-th message of a channel
// has a length that says n, so a reader who pairs another two sees it. It goes on until a file named
// "stop" is there. `silent`: the last rank calls no MPI until then.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kAhead = 4, kTags = 3, kWild = 7, kPersistent = 8, kOther = 9, kProbed = 10, kMost = 6000 };
static char from[kAhead][kTags][kMost], to[kMost], wild[kMost], again[64], other[kMost];

static int length_of(long round, int tag) {
  return 1 + (int)((round * (2 * tag + 3) + round / 7) % (kMost - 1));
}

// Every fourth message is received at once, while others are held.
static MPI_Message held[3];
static int held_count;
static void hold(long round, int last, MPI_Comm comm) {
  static char message[kMost];
  if (round % 4 == 3) {
    MPI_Recv(message, kMost, MPI_BYTE, last, kProbed, comm, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Mprobe(round % 2 ? MPI_ANY_SOURCE : last, kProbed, comm, &held[held_count++],
             MPI_STATUS_IGNORE);
  if (held_count < 3) return;
  MPI_Mrecv(message, kMost, MPI_BYTE, &held[2], MPI_STATUS_IGNORE);
  MPI_Mrecv(message, kMost, MPI_BYTE, &held[0], MPI_STATUS_IGNORE);
  held[0] = held[1];
  held_count = 1;
}

static void go_on(MPI_Comm comm, int rank, int size) {
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  MPI_Comm twin;
  MPI_Comm_dup(comm, &twin);
  MPI_Request posted[kAhead][kTags], persistent[2];
  MPI_Recv_init(again, sizeof again, MPI_BYTE, last, kPersistent, comm, &persistent[0]);
  MPI_Send_init(again, 1, MPI_BYTE, next, kPersistent, comm, &persistent[1]);
  for (int ahead = 0; ahead < kAhead; ++ahead)
    for (int tag = 0; tag < kTags; ++tag)
      MPI_Irecv(from[ahead][tag], kMost, MPI_BYTE, last, tag, comm, &posted[ahead][tag]);
  long round = 0;
  for (int more = 1; more; ++round) {
    MPI_Request sent[kTags + 2];
    for (int tag = 0; tag < kTags; ++tag)
      MPI_Isend(to, length_of(round, tag), MPI_BYTE, next, tag, comm, &sent[tag]);
    MPI_Isend(to, length_of(round, kWild), MPI_BYTE, next, kWild, comm, &sent[kTags]);
    // Short, so the send ends although the message is held.
    MPI_Isend(to, length_of(round, kProbed) % 1000, MPI_BYTE, next, kProbed, comm,
              &sent[kTags + 1]);
    MPI_Startall(2, persistent);
    MPI_Request* const due = posted[round % kAhead];
    MPI_Waitall(kTags, due, MPI_STATUSES_IGNORE);
    for (int tag = 0; tag < kTags; ++tag)
      MPI_Irecv(from[round % kAhead][tag], kMost, MPI_BYTE, last, tag, comm, &due[tag]);
    MPI_Recv(wild, kMost, MPI_BYTE, MPI_ANY_SOURCE, kWild, comm, MPI_STATUS_IGNORE);
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(to, length_of(round, kOther), MPI_BYTE, next, kOther, other, kMost, MPI_BYTE, last,
                 kOther, twin, MPI_STATUS_IGNORE);
    hold(round, last, comm);
    MPI_Waitall(kTags + 2, sent, MPI_STATUSES_IGNORE);
    if (round % 50 == 49) {
      more = access("stop", F_OK) != 0;
      MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_MIN, twin);
      usleep(2000);
    }
  }
  for (int ahead = 0; ahead < kAhead; ++ahead) {
    for (int tag = 0; tag < kTags; ++tag) {
      MPI_Cancel(&posted[ahead][tag]);
      MPI_Wait(&posted[ahead][tag], MPI_STATUS_IGNORE);
    }
  }
  while (held_count > 0) MPI_Mrecv(other, kMost, MPI_BYTE, &held[--held_count], MPI_STATUS_IGNORE);
  MPI_Request_free(&persistent[0]);
  MPI_Request_free(&persistent[1]);
  MPI_Comm_free(&twin);
}

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int silent = argc > 1 && strcmp(argv[1], "silent") == 0;
  const int sleeps = silent && rank == size - 1;
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, sleeps, rank, &comm);
  while (sleeps && access("stop", F_OK) != 0) usleep(10000);
  if (!sleeps) go_on(comm, rank, size - silent);
  MPI_Comm_free(&comm);
  if (rank == 0) printf("%d ranks were asked\n", size);
  MPI_Finalize();
  return 0;
}

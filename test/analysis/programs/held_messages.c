// SPDX-License-Identifier: BSD-3-Clause
// Messages that probes hold, several at a time, and that are received in another order.
//
// Three ranks. Ranks 1 and 2 send kMessages each to rank 0, all with one tag; no two messages of the
// job have the same length, half of them are too long to be sent before their receive is posted. Rank 0
// takes six at a time from each rank, or from both in any order, by MPI_Mprobe or MPI_Improbe; between
// them are receives without a probe. It checks that each receive gets the message that its probe found.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kMessages = 24, kHeld = 6, kLong = 200000, kTag = 5 };

static char data[2 * kHeld][kLong + 10 * kMessages];
static int rank, wrong;

static int length_of(int source, int number) {
  return (number % 2 ? kLong : 8) + 2 * number + source - 1;
}

static void send_all(void) {
  MPI_Request requests[kMessages];
  static char all[kMessages][kLong + 10 * kMessages];
  for (int i = 0; i < kMessages; i++) {
    const int length = length_of(rank, i);
    memcpy(all[i], &length, sizeof length);
    MPI_Isend(all[i], length, MPI_CHAR, 0, kTag, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
}

static void check(const char* buffer, int length) {
  if (memcmp(buffer, &length, sizeof length) != 0) wrong++;
}

static MPI_Message take(int i, int source, int* length) {
  MPI_Message message;
  MPI_Status status;
  int found = 0;
  if (i % 3 == 0) {
    while (!found) MPI_Improbe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &message, &status);
  } else {
    MPI_Mprobe(source, i % 3 == 1 ? kTag : MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
  }
  MPI_Get_count(&status, MPI_CHAR, length);
  return message;
}

// Takes kHeld messages, with a receive of another in the middle, and receives them in the order.
static void receive(int source, const int order[kHeld]) {
  MPI_Message held[kHeld];
  MPI_Request between, requests[kHeld];
  MPI_Status status;
  int length[kHeld], other = 0;
  for (int i = 0; i < kHeld; i++) {
    held[i] = take(i, source, &length[i]);
    if (i == kHeld / 2)
      MPI_Irecv(data[kHeld], sizeof data[0], MPI_CHAR, source, kTag, MPI_COMM_WORLD, &between);
  }
  for (int i = 0; i < kHeld; i++) {
    const int which = order[i];
    requests[which] = MPI_REQUEST_NULL;
    if (i % 2) {
      MPI_Imrecv(data[which], length[which], MPI_CHAR, &held[which], &requests[which]);
    } else {
      MPI_Mrecv(data[which], length[which], MPI_CHAR, &held[which], MPI_STATUS_IGNORE);
    }
  }
  for (int i = 0; i < kHeld; i++) {
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    check(data[i], length[i]);
  }
  MPI_Wait(&between, &status);
  MPI_Get_count(&status, MPI_CHAR, &other);
  check(data[kHeld], other);
}

int main(int argc, char** argv) {
  static const int backward[kHeld] = {5, 4, 3, 2, 1, 0}, mixed[kHeld] = {3, 0, 5, 1, 4, 2};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {
    send_all();
  } else {
    int left = 2 * kMessages;
    receive(1, backward), receive(1, mixed), receive(2, mixed), left -= 3 * (kHeld + 1);
    for (; left >= kHeld + 1; left -= kHeld + 1)
      receive(MPI_ANY_SOURCE, left % 2 ? backward : mixed);
    for (; left > 0; left--) {
      MPI_Status status;
      int length = 0;
      MPI_Recv(data[0], sizeof data[0], MPI_CHAR, MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_CHAR, &length);
      check(data[0], length);
    }
    printf("held messages: %d wrong\n", wrong);
  }
  MPI_Finalize();
  return wrong != 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// As waits.c, for partitioned communication (MPI 4.0, chapter 4): waits of known length.
//   partitions CASE
//
// Four ranks, of which rank 1 sends to rank 0 or receives from it. In phase "truth" rank 1 comes DELAY
// late to what rank 0 waits for in it; between rounds all meet outside of the phase.
//
// Open MPI's part/persist duplicates MPI_COMM_WORLD when it has its first request, so a message can only
// go out once each process has one: ranks 2 and 3 have some, too.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test/analysis/programs/truth_rounds.h"

enum { kRounds = 5, kDelay_ms = 20, kPartitions = 4, kLong = 1 << 18, kTag = 3 };

static int rank, count = 1000;  // of a partition
static char out[2][kPartitions * kLong], in[2][kPartitions * kLong];
static MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

static void late(void) {
  struct timespec time = {0, kDelay_ms * 1000000L};
  nanosleep(&time, NULL);
}

static void send_to(int peer, int i, int tag, MPI_Comm comm) {
  MPI_Psend_init(out[i], kPartitions, count, MPI_CHAR, peer, tag, comm, MPI_INFO_NULL,
                 &requests[i]);
}
static void receive_from(int peer, int i, int tag, MPI_Comm comm) {
  MPI_Precv_init(in[i], kPartitions, count, MPI_CHAR, peer, tag, comm, MPI_INFO_NULL, &requests[i]);
}

// Rank 1 has three partitions at once, and the last one late.
static void send_late(void) {
  MPI_Start(&requests[0]);
  MPI_Pready_range(0, kPartitions - 2, requests[0]);
  late();
  MPI_Pready(kPartitions - 1, requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}
static void last_pready(void) {
  if (rank == 1) send_late();
  if (rank != 0) return;
  MPI_Start(&requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}
// The third is there before rank 0 asks for the last.
static void parrived_loop(void) {
  if (rank == 1) send_late();
  if (rank != 0) return;
  MPI_Start(&requests[0]);
  for (int arrived = 0; !arrived;) MPI_Parrived(requests[0], kPartitions - 1, &arrived);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}
static void tested(void) {
  if (rank == 1) send_late();
  if (rank != 0) return;
  MPI_Start(&requests[0]);
  for (int done = 0; !done;) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
}
// MPI_Startall of two that send hangs in Open MPI.
static void start_both(void) {
  for (int i = 0; i < 2; i++) MPI_Start(&requests[i]);
}
// Of two operations between the same ranks, the one that the sender made first is late.
static void two_operations(void) {
  if (rank == 1) {
    start_both();
    MPI_Pready_range(0, kPartitions - 1, requests[1]);
    late();
    MPI_Pready_list(kPartitions, (int[]){3, 1, 2, 0}, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  if (rank != 0) return;
  start_both();
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

// Long partitions wait for their receiver.
static void late_start(void) {
  if (rank == 0) {
    MPI_Start(&requests[0]);
    MPI_Pready_range(0, kPartitions - 1, requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
  if (rank != 1) return;
  late();
  MPI_Start(&requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static const struct Case cases[] = {
    {"last_pready", last_pready},        {"last_pready_on_other", last_pready},
    {"parrived_loop", parrived_loop},    {"partitions_tested", tested},
    {"two_partitioned", two_operations}, {"late_start", late_start}};

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm comm = MPI_COMM_WORLD;
  int sender = 1, receiver = 0;                     // on comm
  if (strcmp(name, "last_pready_on_other") == 0) {  // the ranks in reverse
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    sender = 2, receiver = 3;
  }
  const int both = strcmp(name, "two_partitioned") == 0;
  const int to_rank_1 = strcmp(name, "late_start") == 0;
  if (to_rank_1) count = kLong, sender = 0, receiver = 1;
  for (int i = 0; i <= both; i++) {
    // The receiver makes the second one first, with other tags.
    if (rank == to_rank_1) receive_from(sender, both - i, kTag + both - i, comm);
    if (rank == !to_rank_1) send_to(receiver, i, kTag + i, comm);
  }
  if (rank == 2) send_to(3, 0, kTag, MPI_COMM_WORLD);
  if (rank == 3) receive_from(2, 0, kTag, MPI_COMM_WORLD);
  const struct Case* const chosen = CHOSEN(cases, argc, argv);
  run_rounds(chosen, kRounds, NULL);
  for (int i = 0; i < 2; i++)
    if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
  MPI_Finalize();
  return exit_code(chosen);
}

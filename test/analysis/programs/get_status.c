// SPDX-License-Identifier: BSD-3-Clause
// As waits.c, for loops of MPI_Request_get_status_all, _any and _some (MPI 4.1, section 3.7.6): waits of
// known length.
//   get_status CASE
//
// Four ranks. In phase "truth" rank 1 sends to rank 0 DELAY late; rank 0 asks until the message is there,
// and what it has from itself too: before its loop (all), or only afterwards (any, some), so that the
// loop ends with the one of two that is late. Between rounds all meet outside of the phase.
#include <mpi.h>
#include <time.h>

#include "test/analysis/programs/truth_rounds.h"

enum { kRounds = 5, kDelay_ms = 20 };

static int rank, value[2];
static MPI_Request requests[2];

static void late(void) {
  struct timespec time = {0, kDelay_ms * 1000000L};
  nanosleep(&time, NULL);
}

static void send_to_self(void) { MPI_Send(&rank, 1, MPI_INT, 0, 4, MPI_COMM_WORLD); }

static void until_all(void) {
  int done = 0;
  send_to_self();
  while (!done) MPI_Request_get_status_all(2, requests, &done, MPI_STATUSES_IGNORE);
}
static void until_any(void) {
  int done = 0, index;
  while (!done) MPI_Request_get_status_any(2, requests, &index, &done, MPI_STATUS_IGNORE);
  send_to_self();
}
static void until_some(void) {
  int found = 0, indices[2];
  while (!found) MPI_Request_get_status_some(2, requests, &found, indices, MPI_STATUSES_IGNORE);
  send_to_self();
}

static void once(void (*ask)(void)) {
  if (rank == 1) late(), MPI_Send(&rank, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank != 0) return;
  MPI_Irecv(&value[0], 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&value[1], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[1]);
  ask();
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void all(void) { once(until_all); }
static void any(void) { once(until_any); }
static void some(void) { once(until_some); }

static const struct Case cases[] = {
    {"get_status_all_loop", all}, {"get_status_any_loop", any}, {"get_status_some_loop", some}};

int main(int argc, char** argv) {
  const struct Case* const chosen = CHOSEN(cases, argc, argv);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  run_rounds(chosen, kRounds, NULL);
  MPI_Finalize();
  return exit_code(chosen);
}

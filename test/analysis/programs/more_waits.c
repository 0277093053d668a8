// SPDX-License-Identifier: BSD-3-Clause
// As waits.c, for locks of windows and persistent collectives: waits of known length.
//   more_waits CASE
//
// Four ranks. In phase "truth" rank 1 comes DELAY late to what the others, or rank 0, wait for in it;
// between rounds all meet outside of the phase. Before a lock is waited for, a barrier makes sure that
// rank 1 has it.
#include <mpi.h>
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Barrier_init MPIX_Barrier_init
#define MPI_Bcast_init MPIX_Bcast_init
#define MPI_Neighbor_allgather_init MPIX_Neighbor_allgather_init
#define MPI_Reduce_init MPIX_Reduce_init
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test/analysis/programs/truth_rounds.h"

enum { kRounds = 5, kDelay_ms = 20, kAfter_ms = 2 };

static int rank, value[4], sum[4];

static void rest(int ms) {
  const struct timespec time = {0, ms * 1000000L};
  nanosleep(&time, NULL);
}
static void late(void) { rest(kDelay_ms); }

// ---- locks: of rank 1's memory, but for lock_elsewhere ----

static MPI_Win window;
static int* memory;
static int target = 1;

static void put(int to) { MPI_Put(&rank, 1, MPI_INT, to, rank, 1, MPI_INT, window); }

// Rank 1 has the lock when all go on, and keeps it while they ask for theirs.
static void hold(int type, int all) {
  if (rank == 1) {
    if (all) MPI_Win_lock_all(0, window);
    if (!all) MPI_Win_lock(type, target, 0, window);
    put(target);
    MPI_Win_flush(target, window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 1) return;
  late();
  if (all) MPI_Win_unlock_all(window);
  if (!all) MPI_Win_unlock(target, window);
}
static void ask(int type) {
  MPI_Win_lock(type, target, 0, window);
  put(target);
  MPI_Win_unlock(target, window);
}
static void exclusive_then_shared(void) {
  hold(MPI_LOCK_EXCLUSIVE, 0);
  if (rank != 1) ask(MPI_LOCK_SHARED);
}
static void exclusive_then_exclusive(void) {
  hold(MPI_LOCK_EXCLUSIVE, 0);
  if (rank != 1) ask(MPI_LOCK_EXCLUSIVE);
}
static void shared_then_exclusive(void) {
  hold(MPI_LOCK_SHARED, 0);
  if (rank == 0) ask(MPI_LOCK_EXCLUSIVE);
}
static void shared_then_shared(void) {
  hold(MPI_LOCK_SHARED, 0);
  if (rank != 1) ask(MPI_LOCK_SHARED);
}
static void exclusive_then_lock_all(void) {
  hold(MPI_LOCK_EXCLUSIVE, 0);
  if (rank == 1) return;
  MPI_Win_lock_all(0, window);
  put(target);
  MPI_Win_unlock_all(window);
}
static void lock_all_then_exclusive(void) {
  hold(0, 1);
  if (rank == 0) ask(MPI_LOCK_EXCLUSIVE);
}
static void flush_in_a_lock(void) {
  hold(MPI_LOCK_EXCLUSIVE, 0);
  if (rank == 1) return;
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  put(target);
  MPI_Win_flush(target, window);
  put(target);
  MPI_Win_unlock(target, window);
}
// Nobody asks for the lock.
static void no_check(void) {
  hold(MPI_LOCK_SHARED, 0);
  if (rank == 1) return;
  MPI_Win_lock(MPI_LOCK_SHARED, target, MPI_MODE_NOCHECK, window);
  put(target);
  MPI_Win_unlock(target, window);
}
static void make_window(int allocate) {
  if (allocate) {
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  } else {
    memory = value;
    MPI_Win_create(memory, 4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  }
}

// ---- loops of MPI_Request_get_status ----

static void until_complete(MPI_Request* request) {
  int done = 0;
  while (!done) MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}
static void get_status_of_a_collective(void) {
  MPI_Request request;
  if (rank == 1) late();
  MPI_Iallreduce(value, sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  until_complete(&request);
}
static void get_status_of_a_send(void) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Issend(value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
    until_complete(&request);
  }
  if (rank == 1) late(), MPI_Recv(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// ---- messages that two probes have taken ----

static char early[1 << 18], longer[2][1 << 18];

// The second of two messages is late, and received first.
static void two_mprobes(void) {
  MPI_Message messages[2];
  if (rank == 1) {
    MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    late();
    MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  }
  if (rank != 0) return;
  for (int i = 0; i < 2; i++) MPI_Mprobe(1, 3, MPI_COMM_WORLD, &messages[i], MPI_STATUS_IGNORE);
  for (int i = 1; i >= 0; i--) MPI_Mrecv(value, 1, MPI_INT, &messages[i], MPI_STATUS_IGNORE);
}
// Rank 1 receives the first of two long messages late, and the second before.
static void mrecv_of_the_second_first(void) {
  MPI_Request sends[2];
  MPI_Message messages[2];
  if (rank == 0) {
    for (int i = 0; i < 2; i++)
      MPI_Isend(longer[i], sizeof early, MPI_CHAR, 1, 3, MPI_COMM_WORLD, &sends[i]);
    for (int i = 1; i >= 0; i--) MPI_Wait(&sends[i], MPI_STATUS_IGNORE);
  }
  if (rank != 1) return;
  for (int i = 0; i < 2; i++) MPI_Mprobe(0, 3, MPI_COMM_WORLD, &messages[i], MPI_STATUS_IGNORE);
  MPI_Mrecv(early, sizeof early, MPI_CHAR, &messages[1], MPI_STATUS_IGNORE);
  late();
  MPI_Mrecv(early, sizeof early, MPI_CHAR, &messages[0], MPI_STATUS_IGNORE);
}

// ---- receives whose place in the order is known late: the second of two messages is late ----

static void early_and_late(void) {
  MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  late();
  MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
}
static void receive(int source, int number, MPI_Request* request) {
  MPI_Irecv(&value[number], 1, MPI_INT, source, 3, MPI_COMM_WORLD, request);
}
static void freed_before_from(int source) {
  MPI_Request freed;
  if (rank == 1) early_and_late();
  if (rank != 0) return;
  receive(source, 0, &freed);
  MPI_Request_free(&freed);
  MPI_Recv(&value[1], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void freed_before(void) { freed_before_from(1); }
static void any_source_freed_before(void) { freed_before_from(MPI_ANY_SOURCE); }
static void any_source_before(void) {
  MPI_Request receives[2];
  if (rank == 1) early_and_late();
  if (rank != 0) return;
  receive(MPI_ANY_SOURCE, 0, &receives[0]);
  receive(1, 1, &receives[1]);
  for (int i = 1; i >= 0; i--) MPI_Wait(&receives[i], MPI_STATUS_IGNORE);
}
static void cancelled_before(void) {
  MPI_Request receives[2];
  if (rank == 1) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank != 0) return;
  for (int i = 0; i < 2; i++) receive(1, i, &receives[i]);
  MPI_Cancel(&receives[0]);
  for (int i = 0; i < 2; i++) MPI_Wait(&receives[i], MPI_STATUS_IGNORE);
}

// ---- a receive that begins when another thread waits already, which then takes both messages from the network ----

static void* receive_after(void* unused) {
  rest(kAfter_ms);
  MPI_Recv(&value[1], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return unused;
}
static void received_in_another_thread(void) {
  pthread_t receiver;
  if (rank == 1) late(), rest(kAfter_ms);
  for (int tag = 3; rank == 1 && tag <= 4; tag++)
    MPI_Send(value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
  if (rank != 0) return;
  pthread_create(&receiver, NULL, receive_after, NULL);
  MPI_Probe(1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  pthread_join(receiver, NULL);
}

// ---- a neighbour that receives and does not send: rank 1, from rank 0, more than can go at once ----

static MPI_Comm other;

static void make_one_way(void) {
  const int to = 1, from = 0, weight = 1;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank == 1, &from, &weight, rank == 0, &to, &weight,
                                 MPI_INFO_NULL, 0, &other);
}
static void sent_to_a_neighbor(void) {
  if (rank == 1) late();
  MPI_Neighbor_alltoall(longer[0], sizeof early, MPI_CHAR, early, sizeof early, MPI_CHAR, other);
}
static void isent_to_a_neighbor(void) {
  MPI_Request request;
  if (rank == 1) late();
  MPI_Ineighbor_alltoall(longer[0], sizeof early, MPI_CHAR, early, sizeof early, MPI_CHAR, other,
                         &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// ---- three at once on one communicator, on a process that only receives in them: rank 0, from all others ----

static void make_to_rank_0(void) {
  const int to = 0, from[3] = {1, 2, 3}, weights[3] = {1, 1, 1};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank == 0 ? 3 : 0, from, weights, rank != 0, &to,
                                 weights, MPI_INFO_NULL, 0, &other);
}
static void gather_from_others(MPI_Request* request) {
  static int from[3];
  MPI_Ineighbor_allgather(&rank, 1, MPI_INT, from, 1, MPI_INT, other, request);
}
// Rank 1 comes late to the second, rank 2 twice as late to the third. Rank 0 first completes the second, then
// the first, which is there, and then the third.
static void several_ineighbors(void) {
  MPI_Request all[3];
  for (int i = 0; i < 3; i++) {
    if (rank == 1 && i == 1) late();
    if (rank == 2 && i == 2) late(), late();
    gather_from_others(&all[i]);
  }
  MPI_Wait(&all[1], MPI_STATUS_IGNORE);
  MPI_Wait(&all[0], MPI_STATUS_IGNORE);
  MPI_Wait(&all[2], MPI_STATUS_IGNORE);
}
// As above, of long messages. Rank 0 comes late, begins all, and works again before it completes any: the others wait
// until it has begun.
static void several_sent_to_a_neighbor(void) {
  static char from[3][3 * sizeof early];
  MPI_Request all[3];
  if (rank == 0) late();
  for (int i = 0; i < 3; i++)
    MPI_Ineighbor_allgather(longer[0], sizeof early, MPI_CHAR, from[i], sizeof early, MPI_CHAR,
                            other, &all[i]);
  if (rank == 0) late();
  for (int i = 2; i >= 0; i--) MPI_Wait(&all[i], MPI_STATUS_IGNORE);
}

// ---- persistent collectives ----

static MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

static void started(void) {
  if (rank == 1) late();
  MPI_Start(&requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}
static void started_and_tested(void) {
  int done = 0;
  if (rank == 1) late();
  MPI_Start(&requests[0]);
  while (!done) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
}
static void all_started(void) {
  if (rank == 1) late();
  MPI_Startall(2, requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void make_allreduce(MPI_Request* request) {
  MPI_Allreduce_init(value, sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request);
}
static void make_persistent(const char* name) {
  if (strncmp(name, "allreduce", 9) == 0) make_allreduce(&requests[0]);
  if (strcmp(name, "bcast_init") == 0)
    MPI_Bcast_init(value, 1, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  if (strcmp(name, "reduce_init") == 0)
    MPI_Reduce_init(value, sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                    &requests[0]);
  if (strcmp(name, "startall_of_collectives") == 0) {
    make_allreduce(&requests[0]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  }
  if (strncmp(name, "neighbor", 8) == 0) {
    static int from[2];
    MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){4}, (int[]){1}, 0, &other);
    MPI_Neighbor_allgather_init(&rank, 1, MPI_INT, from, 1, MPI_INT, other, MPI_INFO_NULL,
                                &requests[0]);
  }
}

static const struct Case cases[] = {{"exclusive_then_shared", exclusive_then_shared},
                                    {"exclusive_then_exclusive", exclusive_then_exclusive},
                                    {"shared_then_exclusive", shared_then_exclusive},
                                    {"shared_then_shared", shared_then_shared},
                                    {"exclusive_then_lock_all", exclusive_then_lock_all},
                                    {"lock_all_then_exclusive", lock_all_then_exclusive},
                                    {"flush_in_a_lock", flush_in_a_lock},
                                    {"no_check", no_check},
                                    {"lock_elsewhere", exclusive_then_shared},
                                    {"allocated_then_shared", exclusive_then_shared},
                                    {"allocated_then_exclusive", exclusive_then_exclusive},
                                    {"get_status_of_a_collective", get_status_of_a_collective},
                                    {"get_status_of_a_send", get_status_of_a_send},
                                    {"two_mprobes", two_mprobes},
                                    {"mrecv_of_the_second_first", mrecv_of_the_second_first},
                                    {"freed_before", freed_before},
                                    {"any_source_freed_before", any_source_freed_before},
                                    {"any_source_before", any_source_before},
                                    {"cancelled_before", cancelled_before},
                                    {"received_in_another_thread", received_in_another_thread},
                                    {"sent_to_a_neighbor", sent_to_a_neighbor},
                                    {"isent_to_a_neighbor", isent_to_a_neighbor},
                                    {"several_ineighbors", several_ineighbors},
                                    {"several_sent_to_a_neighbor", several_sent_to_a_neighbor},
                                    {"allreduce_init", started},
                                    {"allreduce_init_in_test_loop", started_and_tested},
                                    {"bcast_init", started},
                                    {"reduce_init", started},
                                    {"startall_of_collectives", all_started},
                                    {"neighbor_init", started},
                                    {"neighbor_init_in_test_loop", started_and_tested}};

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  const int several = strcmp(name, "received_in_another_thread") == 0;
  int threads = 0;
  MPI_Init_thread(&argc, &argv, several ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &threads);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  target = strcmp(name, "lock_elsewhere") == 0 ? 2 : 1;
  make_window(strncmp(name, "allocated", 9) == 0);
  make_persistent(name);
  if (strncmp(name, "several", 7) == 0) {
    make_to_rank_0();
  } else if (strstr(name, "sent_to") != NULL) {
    make_one_way();
  }
  const struct Case* const chosen = CHOSEN(cases, argc, argv);
  run_rounds(chosen, kRounds, NULL);
  for (int i = 0; i < 2; i++)
    if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return exit_code(chosen);
}

// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: threads make, use and free communicators at the same time:
//
//   threads_make CASE
//
//   free    a communicator is freed before another one like it is made, on odd ranks after that
//   group   MPI_Comm_create_group of all from MPI_COMM_WORLD, and barriers on that meanwhile
//   dup     MPI_Comm_dup, MPI_Comm_split and MPI_Comm_idup from equal communicators
//   inter   MPI_Intercomm_create and MPI_Intercomm_merge, while other threads wait for messages
//
// On odd ranks the threads begin in the opposite order. On each single communicator as much is sent
// from a to b as from b to a, and on those of different threads there is a different number of
// messages; so a communicator that two ranks take for different ones shows.
//
// Nothing here duplicates an intercommunicator: where several threads do, Open MPI 4.1 can hang.
// ompi_comm_nextcid gives way to the lower context id of the parent, and the two sides have
// different ones for the communicators of their local groups, which are duplicated first.
#include "../expect.h"

#include <pthread.h>

enum { kThreads = 4, kRounds = 8, kSize = 40 };
static MPI_Comm own[kThreads], half[kThreads];  // duplicates of all, and half of each
static int goes_second;  // this rank's threads do things in the opposite order

static void use(MPI_Comm comm, const char* made_by, int times) {
  char out[kSize] = "", in[kSize];
  int me, members, inter;
  expect_label(comm, made_by);
  MPI_Comm_rank(comm, &me);
  MPI_Comm_test_inter(comm, &inter);
  inter ? MPI_Comm_remote_size(comm, &members) : MPI_Comm_size(comm, &members);
  for (int step = inter ? 0 : 1; step < members; step++) {
    int to = (me + step) % members, from = (me + members - step) % members;
    for (int i = 0; i < times; i++) {
      MPI_Sendrecv(out, kSize, MPI_BYTE, to, i, in, kSize, MPI_BYTE, from, i, comm,
                   MPI_STATUS_IGNORE);
    }
    expect_message(comm, to, kSize, times);
  }
  expect_balanced("point-to-point", comm);
  if (inter) return;
  int barriers = times / 2 + 1;
  for (int i = 0; i < barriers; i++) MPI_Barrier(comm);
  expect_collective("MPI_Barrier", comm, kBarrier, 0, 0, barriers);
  expect_balanced("MPI_Barrier", comm);
}

// ---- free: two threads, forced into an order ----

static MPI_Comm first, second;
static int first_thread_done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;

static void wait_for_turn(int second_here) {
  pthread_mutex_lock(&lock);
  while (second_here && !first_thread_done) pthread_cond_wait(&done, &lock);
  pthread_mutex_unlock(&lock);
}
static void end_turn(void) {
  pthread_mutex_lock(&lock);
  first_thread_done = 1;
  pthread_cond_signal(&done);
  pthread_mutex_unlock(&lock);
}

static void* free_first(void* unused) {
  use(first, "MPI_Comm_dup", 3);
  wait_for_turn(goes_second);
  MPI_Comm_free(&first);
  end_turn();
  return unused;
}
static void* make_second(void* unused) {
  wait_for_turn(!goes_second);
  MPI_Comm_dup(own[0], &second);
  end_turn();
  use(second, "MPI_Comm_dup", 7);
  return unused;
}

static void freed_or_made(void) {
  MPI_Comm_dup(own[0], &first);
  for (int round = 0; round < kRounds; round++) {
    pthread_t threads[2];
    first_thread_done = 0;
    pthread_create(&threads[0], NULL, free_first, NULL);
    pthread_create(&threads[1], NULL, make_second, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    first = second;
  }
  MPI_Comm_free(&first);
}

// ---- the others: each thread makes its own ----

static void from_group(int me) {
  MPI_Comm comm;
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_create_group(MPI_COMM_WORLD, all, me, &comm);
  MPI_Group_free(&all);
  use(comm, "MPI_Comm_create_group", me + 1);
  MPI_Comm_free(&comm);
}

static void from_duplicate(int me) {
  MPI_Comm copy, part, later;
  MPI_Request request;
  MPI_Comm_dup(own[me], &copy);
  MPI_Comm_idup(copy, &later, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_split(later, 0, -world_rank, &part);
  MPI_Comm_free(&later);
  use(part, "MPI_Comm_split", 2 * me + 1);
  use(copy, "MPI_Comm_dup", me + 1);
  MPI_Comm_free(&part);
  MPI_Comm_free(&copy);
}

static void from_halves(int me) {
  MPI_Comm both, merged;
  int is_low = world_rank < world_size / 2;
  MPI_Intercomm_create(half[me], 0, own[me], is_low ? world_size / 2 : 0, me, &both);
  use(both, "MPI_Intercomm_create", me + 1);
  MPI_Intercomm_merge(both, is_low ? 0 : 1, &merged);
  use(merged, "MPI_Intercomm_merge", 3 * me + 1);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&both);
}

static void (*make)(int);

static void* rounds(void* argument) {
  int me = (int)(long)argument;
  for (int round = 0; round < kRounds; round++) {
    usleep((useconds_t)(500 * (goes_second ? kThreads - 1 - me : me)));
    if (make == from_group && me == kThreads - 1) {
      for (int i = 0; i < 20; i++) MPI_Barrier(MPI_COMM_WORLD);  // the others make theirs from it
    } else {
      make(me);
    }
  }
  return NULL;
}

static void in_threads(void) {
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, rounds, (void*)i);
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  if (make != from_group) return;
  expect_collective("MPI_Barrier", MPI_COMM_WORLD, kBarrier, 0, 0, 20 * kRounds);
  expect_balanced("MPI_Barrier", MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  expect_start();
  require(provided == MPI_THREAD_MULTIPLE && argc == 2);
  expect_may("library");
  goes_second = world_rank % 2;
  for (int i = 0; i < kThreads; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    MPI_Comm_split(own[i], world_rank < world_size / 2, world_rank, &half[i]);
  }
  if (strcmp(argv[1], "group") == 0) make = from_group;
  if (strcmp(argv[1], "dup") == 0) make = from_duplicate;
  if (strcmp(argv[1], "inter") == 0) make = from_halves;
  make == NULL ? freed_or_made() : in_threads();
  for (int i = 0; i < kThreads; i++) {
    MPI_Comm_free(&half[i]);
    MPI_Comm_free(&own[i]);
  }
  report_ok("threads_make");
  MPI_Finalize();
  return 0;
}

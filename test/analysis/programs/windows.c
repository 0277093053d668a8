// SPDX-License-Identifier: BSD-3-Clause
// Programs that name windows of the critical path:  windows CASE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "profiler/fathom.h"

static int rank, size;

static void work(int ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&time, NULL);
}
static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

// The last rank is the path of the one window, the first that of the other; 20 and 30 ms, 3 times.
static void in_turn(void) {
  double in[100] = {0}, out[100] = {0};
  for (int i = 0; i < 3; i++) {
    barrier();
    fathom_path_start("last");
    if (rank == size - 1) work(20);
    MPI_Allreduce(out, in, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    fathom_path_stop("last");
    work(5);
    fathom_path_start("first is late");
    if (rank == 0) work(30);
    MPI_Bcast(in, 50, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    fathom_path_stop("first is late");
    barrier();
  }
}

// Inside one another, across one another, and open at the end.
static void nested(void) {
  fathom_path_start("outer");
  work(5);
  fathom_path_start("inner");
  work(10);
  barrier();
  fathom_path_stop("inner");
  fathom_path_start("across");
  work(10);
  fathom_path_stop("outer");
  work(5);
  fathom_path_stop("across");
  fathom_path_start("open");
  work(10);
}

// What has no effect, or not the same on all.
static void* from_a_thread(void* unused) {
  fathom_path_start("of a thread");
  fathom_path_stop("of a thread");
  return unused;
}
static void mistakes(void) {
  pthread_t thread;
  fathom_path_stop("never opened");
  fathom_path_start("good");
  fathom_path_start("good");
  fathom_path_start("");
  fathom_path_start(NULL);
  work(10);
  barrier();
  fathom_path_stop("good");
  fathom_path_stop("good");
  for (int i = 0; i < (rank == 1 ? 2 : 1); i++) {
    fathom_path_start("odd");
    fathom_path_stop("odd");
  }
  if (rank == 2) fathom_path_start("lonely");
  if (rank != 0) fathom_path_start("not of rank 0");
  if (rank == 0) fathom_path_start("of rank 0");
  if (pthread_create(&thread, NULL, from_a_thread, NULL) == 0) pthread_join(thread, NULL);
}

static void too_many(void) {
  char name[20];
  for (int i = 0; i < 100; i++) {
    snprintf(name, sizeof name, "name %d", i);
    fathom_path_start(name);
    fathom_path_stop(name);
  }
  for (int i = 0; i < 1000000; i++) {
    fathom_path_start("name 1");
    fathom_path_stop("name 1");
  }
}

// Other threads call MPI in the window; their calls are not the path's.
static void* messages(void* unused) {
  int out = 1, in;
  for (int i = 0; i < 100; i++)
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, (rank + size - 1) % size,
                 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return unused;
}
static void threads(void) {
  pthread_t thread;
  fathom_path_start("threaded");
  const int error = pthread_create(&thread, NULL, messages, NULL);
  work(rank == 1 ? 30 : 1);
  if (error == 0) pthread_join(thread, NULL);
  barrier();
  fathom_path_stop("threaded");
}

// Two threads call MPI in turns; one opens and closes windows while the other is in MPI.
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static void* many_messages(void* unused) {
  int out = 1, in;
  for (int i = 0; i < 10000; i++) {
    pthread_mutex_lock(&turn);
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, (rank + size - 1) % size,
                 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&turn);
  }
  return unused;
}
static void serialized(void) {
  pthread_t thread;
  const int error = pthread_create(&thread, NULL, many_messages, NULL);
  for (int i = 0; i < 2000; i++) {
    pthread_mutex_lock(&turn);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_mutex_unlock(&turn);
    fathom_path_start("beside");
    fathom_path_stop("beside");
  }
  if (error == 0) pthread_join(thread, NULL);
  barrier();
}

// Windows that are left out, named by several threads at a time, or closed though never opened.
static void* many_from_a_thread(void* unused) {
  for (int i = 0; i < 1000; i++) from_a_thread(unused);
  return unused;
}
static void left_out(void) {
  pthread_t all[8];
  int made = 0;
  char name[20];
  while (made < 8 && pthread_create(&all[made], NULL, many_from_a_thread, NULL) == 0) made++;
  for (int i = 0; i < 10000; i++) {
    snprintf(name, sizeof name, "name %d", i);
    fathom_path_stop(name);
  }
  while (made > 0) pthread_join(all[--made], NULL);
  barrier();
}

// Without counting calls for a part of the window.
static void paused(void) {
  fathom_path_start("paused");
  barrier();
  MPI_Pcontrol(0);
  work(10);
  barrier();
  MPI_Pcontrol(1);
  barrier();
  fathom_path_stop("paused");
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {{"in_turn", in_turn},   {"nested", nested},   {"mistakes", mistakes},
             {"too_many", too_many}, {"threads", threads}, {"serialized", serialized},
             {"left_out", left_out}, {"paused", paused}};

int main(int argc, char** argv) {
  const int in_turns = argc == 2 && strcmp(argv[1], "serialized") == 0;
  int provided;
  fathom_path_start("before MPI_Init");
  MPI_Init_thread(&argc, &argv, in_turns ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (unsigned i = 0; argc == 2 && i < sizeof cases / sizeof cases[0]; i++)
    if (strcmp(cases[i].name, argv[1]) == 0) cases[i].run();
  if (rank == 0) puts("done");
  MPI_Finalize();
  fathom_path_start("after MPI_Finalize");
  return rank == 0 ? 3 : 0;
}

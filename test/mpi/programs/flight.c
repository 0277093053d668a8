// SPDX-License-Identifier: BSD-3-Clause
// What a flight recorder keeps of a job that ends as the arguments say.
//
// usage: flight ROUNDS END [RANK]   END: finalize, fork, own, exit, abort, segv, term, kill, usr2, loop
//
// Each round is a step of a ring: its message's size says which one, so a reader can tell which
// rounds are left; so does a second one, which a probe takes: one or two of these are held at any moment,
// and received in another order. Then rank RANK (default 1) ends the job; `usr2` raises that signal at all ranks,
// and goes on; so does `own`, with a handler of its own for it; `fork` makes a child that ends at once;
// `loop` goes on with rounds until a file named "stop" is there.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMost = 1 << 20, kProbed = 7 };
static char from[kMost], to[kMost];

static MPI_Message held[3];
static int held_count;
static void hold(int round, int last) {
  if (round % 4 == 3) {  // while others are held
    MPI_Recv(from, kMost, MPI_BYTE, last, kProbed, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Mprobe(last, kProbed, MPI_COMM_WORLD, &held[held_count++], MPI_STATUS_IGNORE);
  if (held_count < 3) return;
  MPI_Mrecv(from, kMost, MPI_BYTE, &held[2], MPI_STATUS_IGNORE);
  MPI_Mrecv(from, kMost, MPI_BYTE, &held[0], MPI_STATUS_IGNORE);
  held[0] = held[1];
  held_count = 1;
}
static void let_go(void) {
  while (held_count > 0) MPI_Mrecv(from, kMost, MPI_BYTE, &held[--held_count], MPI_STATUS_IGNORE);
}

static void step(int round, int rank, int size) {
  const int bytes = 1 + round % kMost;
  MPI_Request requests[2];
  MPI_Irecv(from, bytes, MPI_BYTE, (rank + size - 1) % size, round % 5, MPI_COMM_WORLD,
            &requests[0]);
  MPI_Isend(to, bytes, MPI_BYTE, (rank + 1) % size, round % 5, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request probed;
  MPI_Isend(to, 1 + round % 1000, MPI_BYTE, (rank + 1) % size, kProbed, MPI_COMM_WORLD, &probed);
  hold(round, (rank + size - 1) % size);
  MPI_Wait(&probed, MPI_STATUS_IGNORE);
  if (round % 100 == 99) {
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    usleep(500);  // even a busy machine keeps up with the records
    if (sum != size * (size - 1) / 2) MPI_Abort(MPI_COMM_WORLD, 9);
  }
}

static volatile sig_atomic_t handled = 0;
static void handle(int number) { handled = number; }

// Whether the rank that ends badly does so in one of these ways.
static void end_badly(const char* end) {
  if (strcmp(end, "exit") == 0) exit(3);
  if (strcmp(end, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
  if (strcmp(end, "segv") == 0) raise(SIGSEGV);
  if (strcmp(end, "term") == 0) raise(SIGTERM);
  if (strcmp(end, "kill") == 0) raise(SIGKILL);
}

static int ends_well(const char* end) {
  const char* all[] = {"finalize", "fork", "own", "usr2", "loop"};
  for (unsigned i = 0; i < sizeof all / sizeof *all; ++i)
    if (strcmp(end, all[i]) == 0) return 1;
  return 0;
}

int main(int argc, char** argv) {
  int rank = 0, size = 0, round = 0;
  if (argc < 3) return 2;
  const int rounds = atoi(argv[1]), chosen = argc > 3 ? atoi(argv[3]) : 1;
  const char* end = argv[2];
  if (strcmp(end, "own") == 0) signal(SIGUSR2, handle);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_name(MPI_COMM_WORLD, "everybody");
  for (; round < rounds; ++round) step(round, rank, size);
  if (strcmp(end, "usr2") == 0) raise(SIGUSR2);
  if (strcmp(end, "loop") == 0) {
    for (int more = 1; more; MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD)) {
      for (const int last = round + 100; round < last; ++round) step(round, rank, size);
      if (rank == 0) more = access("stop", F_OK) != 0;
      usleep(1000);
    }
  }
  if (ends_well(end)) let_go();
  if (strcmp(end, "own") == 0) {
    raise(SIGUSR2);
    if (handled != SIGUSR2) MPI_Abort(MPI_COMM_WORLD, 7);
  }
  if (strcmp(end, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) _exit(6);
    int status = 0;
    // Nobody else is a child of this process.
    if (wait(&status) != child || WEXITSTATUS(status) != 6 || wait(NULL) != -1)
      MPI_Abort(MPI_COMM_WORLD, 8);
  }
  if (rank == chosen) end_badly(end);
  if (!ends_well(end)) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %d rounds\n", size, rounds);
  MPI_Finalize();
  return 0;
}

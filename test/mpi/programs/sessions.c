// SPDX-License-Identifier: BSD-3-Clause
// Sessions (MPI 4.0, section 11.3), with and without MPI_Init around them.
//
//   sessions alone     MPI_Init is never called; communicators of all ranks and of parts of them
//   sessions again     the same, where MPI ends with a session and begins again with the next
//   sessions part      the odd ranks open a session and make no communicator
//   sessions beside    two sessions at once, each used by a thread of its own
//   sessions inside    between MPI_Init and MPI_Finalize
//   sessions before    begun before MPI_Init
//   sessions after     ended after MPI_Finalize
//   sessions later     begun after MPI_Finalize
//   sessions one_after the last rank alone has one that ends after MPI_Finalize
//   sessions child     a child process ends beside a session
//   sessions abort|exit|kill|segv   rank 1 ends so inside a session
//   sessions kill_again             all ranks are killed in a second session
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "../expect.h"

struct use {
  MPI_Session session;
  MPI_Group world;
  MPI_Comm comm;
};

static MPI_Info many_threads(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
  return info;
}

// Waits for all ranks, without MPI. Open MPI 5.0.7 and 6.0.0rc2 at times fail or hang where some
// ranks make a communicator while others begin or end MPI with a session.
static void meet(const char* where) {
  static int times;
  char path[4096];
  int rank;
  times++;
  for (rank = -1; rank < world_size; rank++) {
    const int own = rank < 0;
    snprintf(path, sizeof path, "%s/%s.%d.%d", getenv("TEST_SCRATCH"), where, times,
             own ? world_rank : rank);
    if (own) fclose(fopen(path, "w"));
    while (access(path, F_OK) != 0) usleep(1000);
  }
}

static void make(struct use* use, const char* tag) {
  MPI_Comm_create_from_group(use->world, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &use->comm);
}

static void begin(struct use* use, const char* tag) {
  MPI_Info info = many_threads();
  MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &use->session);
  MPI_Info_free(&info);
  MPI_Group_from_session_pset(use->session, "mpi://WORLD", &use->world);
  use->comm = MPI_COMM_NULL;
  if (tag) make(use, tag);
}

static void end(struct use* use) {
  if (use->comm != MPI_COMM_NULL) MPI_Comm_free(&use->comm);
  MPI_Group_free(&use->world);
  MPI_Session_finalize(&use->session);
}

// Each rank sends `count` messages to the next one, of a length that tells the sender.
static void talk(MPI_Comm comm, int count) {
  static char out[5000];
  char in[5000];
  int rank, size, i;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (i = 0; i < count; i++)
    MPI_Sendrecv(out, 1000 + 100 * rank, MPI_BYTE, (rank + 1) % size, 65261, in, sizeof in,
                 MPI_BYTE, (rank + size - 1) % size, 65261, comm, MPI_STATUS_IGNORE);
}

static void talk_as_expected(MPI_Comm comm, const char* made_by, int count) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  expect_label(comm, made_by);
  talk(comm, count);
  expect_message(comm, (rank + 1) % size, 1000 + 100 * rank, count);
}

static const char kFromGroup[] = "MPI_Comm_create_from_group";

// On all ranks, on a duplicate, on every second rank, and on each alone.
static void talk_everywhere(struct use* use, int round) {
  MPI_Comm duplicate, half, alone;
  MPI_Group self;
  char tag[40];
  int rank, sum;
  MPI_Comm_rank(use->comm, &rank);
  expect_may("library");
  talk_as_expected(use->comm, kFromGroup, 2 + round);
  expect_collective("MPI_Allreduce", use->comm, kAllreduce, 0, sizeof rank, 1);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, use->comm);
  require(sum == world_size * (world_size - 1) / 2);
  MPI_Comm_dup(use->comm, &duplicate);
  talk_as_expected(duplicate, "MPI_Comm_dup", 3);
  MPI_Comm_free(&duplicate);
  MPI_Comm_split(use->comm, rank % 2, 0, &half);
  talk_as_expected(half, "MPI_Comm_split", 1);
  MPI_Comm_free(&half);
  MPI_Group_from_session_pset(use->session, "mpi://SELF", &self);
  snprintf(tag, sizeof tag, "alone %d", rank);
  MPI_Comm_create_from_group(self, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &alone);
  talk_as_expected(alone, kFromGroup, 4);
  MPI_Comm_free(&alone);
  MPI_Group_free(&self);
}

static void rounds(int count) {
  int i;
  for (i = 0; i < count; i++) {
    struct use use;
    begin(&use, NULL);
    expect_start_with(use.world);
    meet("begun");
    make(&use, "round");
    talk_everywhere(&use, i);
    meet("ends");
    end(&use);
    meet("ended");
  }
}

static void part(void) {
  struct use use;
  MPI_Group even;
  MPI_Comm comm;
  int range[1][3] = {{0, 0, 2}};
  begin(&use, NULL);
  expect_start_with(use.world);
  expect_may("library");
  range[0][1] = world_size - 1;
  if (world_rank % 2 == 0) {
    MPI_Group_range_incl(use.world, 1, range, &even);
    MPI_Comm_create_from_group(even, "even", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    talk_as_expected(comm, kFromGroup, 5);
    expect_may_on("MPI_Barrier", comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&even);
  }
  meet("ends");
  end(&use);
}

// Open MPI 5.0.7 hangs if two threads make their communicators at once.
static pthread_barrier_t both_are_made;
static void* second_session(void* unused) {
  struct use use;
  (void)unused;
  begin(&use, "second");
  pthread_barrier_wait(&both_are_made);
  talk_as_expected(use.comm, kFromGroup, 50);
  end(&use);
  return NULL;
}

static void beside(void) {
  struct use use;
  pthread_t thread;
  begin(&use, "first");
  expect_start_with(use.world);
  expect_may("library");
  pthread_barrier_init(&both_are_made, NULL, 2);
  pthread_create(&thread, NULL, second_session, NULL);
  pthread_barrier_wait(&both_are_made);
  talk_as_expected(use.comm, kFromGroup, 50);
  pthread_join(thread, NULL);
  talk(use.comm, 7);
  expect_message(use.comm, (world_rank + 1) % world_size, 1000 + 100 * world_rank, 7);
  end(&use);
}

static void fork_and_join(void) {
  const pid_t child = fork();
  if (child == 0) exit(0);
  waitpid(child, NULL, 0);
}

static void end_inside(const char* how) {
  struct use use;
  const int again = strcmp(how, "kill_again") == 0;
  if (again) rounds(1);
  begin(&use, "ends");
  MPI_Group_rank(use.world, &world_rank);
  talk(use.comm, 3);
  MPI_Barrier(use.comm);
  if (again) raise(SIGKILL);
  if (world_rank == 1) {
    if (strcmp(how, "abort") == 0) MPI_Abort(use.comm, 7);
    if (strcmp(how, "exit") == 0) exit(3);
    if (strcmp(how, "kill") == 0) raise(SIGKILL);
    if (strcmp(how, "segv") == 0) raise(SIGSEGV);
  }
  talk(use.comm, 1);  // never ends, for want of rank 1
  end(&use);
}

static void around_the_world(const char* where) {
  struct use use;
  if (strcmp(where, "before") == 0) {
    begin(&use, "before");
    expect_start_with(use.world);
    talk_as_expected(use.comm, kFromGroup, 2);
  }
  MPI_Init(NULL, NULL);
  expect_start();
  expect_may("library");
  talk_as_expected(MPI_COMM_WORLD, "predefined", 1);
  if (strcmp(where, "inside") == 0 || strcmp(where, "after") == 0) {
    begin(&use, "inside");
    talk_as_expected(use.comm, kFromGroup, 3);
  }
  if (strcmp(where, "before") == 0) {
    talk(use.comm, 2);
    expect_message(use.comm, (world_rank + 1) % world_size, 1000 + 100 * world_rank, 2);
  }
  if (strcmp(where, "inside") == 0 || strcmp(where, "before") == 0) end(&use);
  MPI_Finalize();
  if (strcmp(where, "later") == 0) begin(&use, "later");
  if (strcmp(where, "after") == 0 || strcmp(where, "later") == 0) {
    talk(use.comm, 4);
    if (strcmp(where, "after") == 0)
      expect_message(use.comm, (world_rank + 1) % world_size, 1000 + 100 * world_rank, 4);
    end(&use);
  }
}

static void one_after(void) {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Init(NULL, NULL);
  expect_start();
  expect_may("library");
  talk_as_expected(MPI_COMM_WORLD, "predefined", 5);
  if (world_rank == world_size - 1) MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Finalize();
  if (session != MPI_SESSION_NULL) MPI_Session_finalize(&session);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "alone";
  if (strcmp(what, "alone") == 0 || strcmp(what, "child") == 0) {
    rounds(1);
    if (strcmp(what, "child") == 0) fork_and_join();
  } else if (strcmp(what, "again") == 0) {
    rounds(3);
  } else if (strcmp(what, "part") == 0) {
    part();
  } else if (strcmp(what, "one_after") == 0) {
    one_after();
  } else if (strcmp(what, "beside") == 0) {
    beside();
  } else if (strcmp(what, "inside") == 0 || strcmp(what, "before") == 0 ||
             strcmp(what, "after") == 0 || strcmp(what, "later") == 0) {
    around_the_world(what);
  } else {
    end_inside(what);
  }
  report_ok("sessions");
  return 0;
}

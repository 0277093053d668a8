// SPDX-License-Identifier: BSD-3-Clause
// Ranks that go on until a file named "stop" is there.
//
// usage: worlds plain     MPI_COMM_WORLD
//        worlds spawn     the same, and a world of two more that the job spawns
//        worlds session   without MPI_Init, on a communicator of a session (MPI 4.0, section 11.3)
//        worlds short     end at once
//
// When it has begun, each process leaves a file ready-PID.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kMost = 4096 };
static char from[kMost], to[kMost];

static void say_ready(void) {
  char name[64];
  snprintf(name, sizeof name, "ready-%d", (int)getpid());
  FILE* file = fopen(name, "w");
  if (file != NULL) fclose(file);
}

static void go_on(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int round = 1, more = 1; more; ++round) {
    // The length says which round it is.
    MPI_Sendrecv(to, round % kMost, MPI_BYTE, (rank + 1) % size, round % 5, from, kMost, MPI_BYTE,
                 (rank + size - 1) % size, round % 5, comm, MPI_STATUS_IGNORE);
    if (round == 200) say_ready();
    if (round % 50 != 0) continue;
    more = access("stop", F_OK) != 0;
    MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_MIN, comm);
    usleep(2000);
  }
  if (rank == 0) printf("%d ranks went on\n", size);
}

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5  // which calls itself 3.1
static int in_a_session(void) {
  MPI_Session session;
  MPI_Group world;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Comm_create_from_group(world, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  go_on(comm);
  MPI_Comm_free(&comm);
  MPI_Group_free(&world);
  MPI_Session_finalize(&session);
  return 0;
}
#else
static int in_a_session(void) { return 3; }
#endif

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "plain";
  if (strcmp(how, "session") == 0) return in_a_session();
  MPI_Comm other = MPI_COMM_NULL;
  char* words[] = {"plain", NULL};
  MPI_Init(&argc, &argv);
  if (strcmp(how, "spawn") == 0)
    MPI_Comm_spawn(argv[0], words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                   MPI_ERRCODES_IGNORE);
  else
    MPI_Comm_get_parent(&other);
  if (strcmp(how, "short") != 0) go_on(MPI_COMM_WORLD);
  if (other != MPI_COMM_NULL) MPI_Comm_disconnect(&other);
  MPI_Finalize();
  return 0;
}

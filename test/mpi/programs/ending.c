// SPDX-License-Identifier: BSD-3-Clause
// Jobs that do not end as they should, and some that end in a special way. All but the ending is
// the same: some messages around a ring, a line from rank 0, then rank 1 does what the argument
// says.
//
//   ending return | abort | exit | exit_all | _exit | segv | sigterm | sigkill | handler | atexit | fpe
#define _GNU_SOURCE
#include "../expect.h"

#include <signal.h>
#include <time.h>

static void at_exit(void) {
  if (world_rank == 0) {
    printf("ending: atexit function\n");
    fflush(stdout);
  }
}

static void on_signal(int number) {
  static const char text[] = "ending: the program's own handler\n";
  (void)number;
  if (write(STDOUT_FILENO, text, sizeof text - 1) < 0) _exit(6);
  _exit(5);
}

static void pause_ms(long milliseconds) {
  struct timespec time = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
  nanosleep(&time, NULL);
}

int main(int argc, char** argv) {
  static char out[300], in[300];
  const char* how = argc > 1 ? argv[1] : "return";
  if (!strcmp(how, "atexit")) atexit(at_exit);
  if (!strcmp(how, "handler")) signal(SIGTERM, on_signal);  // before MPI_Init
  MPI_Init(&argc, &argv);
  expect_start();
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  for (int i = 0; i < 5; i++) {
    MPI_Sendrecv(out, 300, MPI_BYTE, next, 0, in, 300, MPI_BYTE, previous, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    expect_message(MPI_COMM_WORLD, next, 300, 1);
  }
  report_ok("ending");
  // Rank 0's line has reached mpirun before the job dies.
  if (strcmp(how, "return")) pause_ms(100);
  if (!strcmp(how, "exit_all")) exit(3);
  if (world_rank == 1) {
    if (!strcmp(how, "abort")) MPI_Abort(MPI_COMM_WORLD, 7);
    if (!strcmp(how, "exit")) exit(3);
    if (!strcmp(how, "_exit")) _exit(4);
    if (!strcmp(how, "segv")) raise(SIGSEGV);
    if (!strcmp(how, "fpe")) raise(SIGFPE);
    if (!strcmp(how, "sigterm") || !strcmp(how, "handler")) kill(getpid(), SIGTERM);
    if (!strcmp(how, "sigkill")) kill(getpid(), SIGKILL);
  }
  if (strcmp(how, "return") && strcmp(how, "atexit")) {
    // The others wait inside MPI for what never comes.
    MPI_Recv(in, 300, MPI_BYTE, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return !strcmp(how, "return") && argc > 2 ? atoi(argv[2]) : 0;
}

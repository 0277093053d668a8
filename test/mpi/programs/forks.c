// SPDX-License-Identifier: BSD-3-Clause
// chdir, fork with exec of a program without MPI, a forked child that ends through exit(), and
// system(): the children count nothing and write nothing, the profile is where the job began.
#include "../expect.h"

#include <sys/wait.h>

int main(int argc, char** argv) {
  static char out[100], in[100];
  MPI_Init(&argc, &argv);
  expect_start();
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size,
      status;
  require(chdir("/") == 0);
  MPI_Sendrecv(out, 100, MPI_BYTE, next, 0, in, 100, MPI_BYTE, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  expect_message(MPI_COMM_WORLD, next, 100, 1);

  pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit 9", (char*)NULL);
    _exit(127);
  }
  require(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 9);

  fflush(NULL);
  child = fork();
  if (child == 0) exit(8);  // runs destructors and atexit functions
  require(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 8);

  child = fork();
  if (child == 0) abort();
  require(waitpid(child, &status, 0) == child && WIFSIGNALED(status));

  require(WEXITSTATUS(system("exit 5")) == 5);

  MPI_Sendrecv(out, 50, MPI_BYTE, next, 0, in, 50, MPI_BYTE, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  expect_message(MPI_COMM_WORLD, next, 50, 1);
  if (argc > 1 && world_rank == 0) {
    // A child of this job that runs on while the parent finalizes.
    child = fork();
    if (child == 0) {
      usleep(300000);
      exit(0);
    }
  }
  report_ok("forks");
  MPI_Finalize();
  return 0;
}

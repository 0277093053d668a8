// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 tests in vain, in each of the four ways, until rank 1 sends: for timed_calls.py, which holds
// the profile's counts against those that the program has made itself.
//
// usage: failing_tests, with TEST_SCRATCH: rank 0 says in files `started.N` there that a loop has begun,
// 100 ms after which rank 1 sends; in `tests`, one line for each loop: the function, its calls, and the nanoseconds from the
// first that failed to the end of the one that did not.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kRequests = 3, kWays = 4 };

static const char* const kNames[kWays] = {"MPI_Test", "MPI_Testany", "MPI_Testall", "MPI_Testsome"};

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static const char* in_scratch(const char* name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", getenv("TEST_SCRATCH"), name);
  return path;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FILE* told = rank == 0 ? fopen(in_scratch("tests"), "w") : NULL;
  for (int way = 0; way < kWays; way++) {
    char in[kRequests], out = 1;
    char name[32];
    snprintf(name, sizeof name, "started.%d", way);
    if (rank == 0) {
      MPI_Request requests[kRequests];
      int found = 0, index, indices[kRequests];
      for (int i = 0; i < kRequests; i++)
        MPI_Irecv(&in[i], 1, MPI_CHAR, 1, i, MPI_COMM_WORLD, &requests[i]);
      long calls = 0;
      const int64_t began = now_ns();
      for (; found <= 0; calls++) {
        if (calls == 1) fclose(fopen(in_scratch(name), "w"));
        switch (way) {
          case 0: MPI_Test(&requests[0], &found, MPI_STATUS_IGNORE); break;
          case 1: MPI_Testany(kRequests, requests, &index, &found, MPI_STATUS_IGNORE); break;
          case 2: MPI_Testall(kRequests, requests, &found, MPI_STATUSES_IGNORE); break;
          default: MPI_Testsome(kRequests, requests, &found, indices, MPI_STATUSES_IGNORE);
        }
      }
      fprintf(told, "%s %ld %lld\n", kNames[way], calls, (long long)(now_ns() - began));
      MPI_Waitall(kRequests, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 1) {
      while (access(in_scratch(name), F_OK) != 0) usleep(1000);
      usleep(100000);
      for (int i = 0; i < kRequests; i++) MPI_Send(&out, 1, MPI_CHAR, 0, i, MPI_COMM_WORLD);
    }
  }
  if (told != NULL) fclose(told);
  if (rank == 0) printf("all found\n");
  MPI_Finalize();
  return 0;
}

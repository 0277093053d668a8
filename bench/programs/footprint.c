// SPDX-License-Identifier: BSD-3-Clause
/* Measures a job's memory at its end and the duration of its end, for a sparse and a dense pattern.
 *
 *   footprint sparse|dense
 *
 * sparse: a ring and an allreduce, so each process talks to about log2(ranks) + 2 others.
 * dense: in addition, an exchange of 8 B between every two processes.
 *
 * Each process appends "RANK RSS-KIB PRIVATE-KIB PEAK-KIB BEGIN-NS LIBRARY-NS END-NS" to
 * $FOOTPRINT_OUTPUT: VmRSS and RssAnon (memory not shared) before MPI_Finalize, VmHWM at the end, and
 * when, after a barrier, MPI_Finalize was called, when the MPI library's began, and when it returned.
 * The library begins by deleting the attributes of MPI_COMM_SELF (MPI 4.1, section 11.2.4).
 *
 * With hundreds of ranks on two cores, polling would keep the ranks from running at all. So a rank
 * that waits here sleeps for two milliseconds instead (Open MPI calls sched_yield,
 * mpi_yield_when_idle). Link with -rdynamic.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int sched_yield(void) {
  const struct timespec pause = {0, 2000000};
  return nanosleep(&pause, NULL);
}

static long status_kib(const char* name) {
  char line[256];
  long value = -1;
  FILE* file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file)) {
    if (!strncmp(line, name, strlen(name))) value = atol(line + strlen(name) + 1);
  }
  if (file) fclose(file);
  return value;
}

static long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static long library_begins;

static int note_begin(MPI_Comm self, int keyval, void* value, void* state) {
  (void)self, (void)keyval, (void)value, (void)state;
  library_begins = now_ns();
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int rank, size, keyval;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_begin, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long in = 0, out = rank;
  for (int i = 0; i < 3; ++i) {
    MPI_Sendrecv(&out, 1, MPI_LONG, (rank + 1) % size, 0, &in, 1, MPI_LONG,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&out, &in, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  }
  if (argc > 1 && !strcmp(argv[1], "dense")) {
    /* Point to point: MPI_Alltoall's algorithm might not use every pair. */
    for (int distance = 1; distance < size; ++distance) {
      MPI_Sendrecv(&out, 1, MPI_LONG, (rank + distance) % size, 0, &in, 1, MPI_LONG,
                   (rank + size - distance) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const long rss = status_kib("VmRSS:"), private_kib = status_kib("RssAnon:");
  const long start = now_ns();
  MPI_Finalize();
  const long end = now_ns();
  const char* path = getenv("FOOTPRINT_OUTPUT");
  const int file = open(path ? path : "footprint", O_WRONLY | O_CREAT | O_APPEND, 0644);
  dprintf(file, "%d %ld %ld %ld %ld %ld %ld\n", rank, rss, private_kib, status_kib("VmHWM:"), start,
          library_begins, end);
  return 0;
}

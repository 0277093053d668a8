// SPDX-License-Identifier: BSD-3-Clause
/* Times small communication patterns on command, one short turn at a time.
 *
 *   micro FOLDER
 *
 * Rank R reads commands, one per line, from the pipe FOLDER/turn.R; all ranks get the same ones:
 *   PATTERN BYTES TIMES BATCHES     run BATCHES batches of TIMES, after one to warm up; for
 *                                   "outstanding" and "tests", BYTES is the number of simultaneous requests
 *   quit
 * Rank 0 answers each with a line in FOLDER/result: the fastest and the median batch, in
 * nanoseconds per message (ping-pong: half a round trip) or per operation.
 *
 * Between turns all ranks sleep in read(). So several such jobs, one per variant to compare, can
 * run side by side and take turns of milliseconds on the same cores; other load on the machine then
 * affects all of them equally.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  kWindow = 64,
  kMaxBatches = 1000,
  kMaxBytes = 4 << 20,
  kMaxOutstanding = 10000,
  kMostAlone = 1024
};

static int rank;
static char *sent, *received;

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

/* Each pattern runs `times` times and returns the number of messages or operations. */

static double pingpong(int bytes, int times) {
  for (int i = 0; i < times; ++i) {
    if (rank == 0) {
      MPI_Send(sent, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
      MPI_Recv(received, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(received, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(sent, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
  }
  return 2.0 * times;
}

static double window(int bytes, int times) {
  static MPI_Request requests[kWindow];
  for (int i = 0; i < times; ++i) {
    for (int k = 0; k < kWindow; ++k) {
      if (rank == 0) {
        MPI_Isend(sent, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[k]);
      } else {
        MPI_Irecv(received, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[k]);
      }
    }
    MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
    if (rank == 0) {
      MPI_Recv(received, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(sent, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    }
  }
  return (double)kWindow * times;
}

/* Calls that send nothing: each costs little more than its records in a trace. */
static double nobody(int bytes, int times) {
  for (int i = 0; i < times; ++i) MPI_Send(sent, bytes, MPI_BYTE, MPI_PROC_NULL, 2, MPI_COMM_WORLD);
  return times;
}

/* Each rank to itself: what it takes of a core, without waiting for another. */
static double self(int bytes, int times) {
  for (int i = 0; i < times; ++i)
    MPI_Sendrecv(sent, bytes, MPI_BYTE, rank, 2, received, bytes, MPI_BYTE, rank, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  return times;
}

/* The same with two calls: all that a message costs its processes, in one after the other. A message so short
 * needs no receive to be sent. */
static double alone(int bytes, int times) {
  for (int i = 0; i < times; ++i) {
    MPI_Send(sent, bytes, MPI_BYTE, rank, 2, MPI_COMM_WORLD);
    MPI_Recv(received, bytes, MPI_BYTE, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return times;
}

/* Tests of this many receives that find nothing; time per test. */
static double tests(int count, int times) {
  MPI_Request requests[kWindow];
  for (int k = 0; k < count; ++k)
    MPI_Irecv(received + k, 1, MPI_BYTE, rank, 2, MPI_COMM_WORLD, &requests[k]);
  int index, found;
  for (int i = 0; i < times; ++i) MPI_Testany(count, requests, &index, &found, MPI_STATUS_IGNORE);
  for (int k = 0; k < count; ++k) MPI_Send(sent, 1, MPI_BYTE, rank, 2, MPI_COMM_WORLD);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  return times;
}

/* This many simultaneous requests of one byte each; time per request. All receives are posted
 * before the first send. */
static double outstanding(int count, int times) {
  static MPI_Request requests[kMaxOutstanding];
  for (int i = 0; i < times; ++i) {
    for (int k = 0; rank == 1 && k < count; ++k) {
      MPI_Irecv(received, 1, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[k]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; rank == 0 && k < count; ++k) {
      MPI_Isend(sent, 1, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[k]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return (double)count * times;
}

static double allreduce(int bytes, int times) {
  for (int i = 0; i < times; ++i) {
    MPI_Allreduce(sent, received, bytes / (int)sizeof(long), MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  }
  return times;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void turn(double (*pattern)(int, int), int bytes, int times, int batches, FILE* result) {
  static double batch_ns[kMaxBatches];
  pattern(bytes, times);
  for (int b = 0; b < batches; ++b) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = now_ns();
    const double count = pattern(bytes, times);
    batch_ns[b] = (now_ns() - start) / count;
  }
  qsort(batch_ns, batches, sizeof *batch_ns, ascending);
  if (rank == 0) fprintf(result, "%.3f %.3f\n", batch_ns[0], batch_ns[batches / 2]);
}

static FILE* open_pipe(const char* folder, const char* name, const char* mode) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE* pipe = fopen(path, mode);
  if (!pipe) {
    perror(path);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  setvbuf(pipe, NULL, _IOLBF, 0);
  return pipe;
}

static const struct {
  const char* name;
  double (*run)(int, int);
  int largest;
} kPatterns[] = {{"pingpong", pingpong, kMaxBytes},
                 {"window", window, kMaxBytes},
                 {"nobody", nobody, kMaxBytes},
                 {"self", self, kMaxBytes},
                 {"alone", alone, kMostAlone},
                 {"tests", tests, kWindow},
                 {"outstanding", outstanding, kMaxOutstanding},
                 {"allreduce", allreduce, kMaxBytes}};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  char name[32];
  snprintf(name, sizeof name, "turn.%d", rank);
  FILE* commands = open_pipe(argv[1], name, "r");
  FILE* result = rank == 0 ? open_pipe(argv[1], "result", "w") : NULL;
  sent = malloc(kMaxBytes);
  received = malloc(kMaxBytes);
  memset(sent, 1, kMaxBytes);
  memset(received, 1, kMaxBytes);

  char line[128], word[32];
  int bytes, times, batches;
  while (fgets(line, sizeof line, commands) &&
         sscanf(line, "%31s %d %d %d", word, &bytes, &times, &batches) == 4) {
    int pattern = 0;
    while (strcmp(word, kPatterns[pattern].name) != 0) {
      if (++pattern == sizeof kPatterns / sizeof kPatterns[0]) MPI_Abort(MPI_COMM_WORLD, 4);
    }
    if (bytes > kPatterns[pattern].largest || batches > kMaxBatches) MPI_Abort(MPI_COMM_WORLD, 3);
    turn(kPatterns[pattern].run, bytes, times, batches, result);
  }
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Two ranks that delay all others, one after the other:
//   delays CASE FIRST_MS SECOND_MS
//
// Four ranks. Rank 0 sleeps for FIRST_MS, and rank 1, once that has reached it, for SECOND_MS. CASE
// says how the others learn of each.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size, value;
static MPI_Comm some;  // ranks 0 to 2

static void sleep_ms(const char* text) {
  const long ms = atol(text);
  struct timespec left = {ms / 1000, ms % 1000 * 1000000L};
  if (ms > 0) nanosleep(&left, NULL);
}

__attribute__((noinline)) static void message(int from, int to) {
  if (rank == from) MPI_Send(&value, 1, MPI_INT, to, 3, MPI_COMM_WORLD);
  if (rank == to) MPI_Recv(&value, 1, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void messages(int late) {
  for (int to = 0; to < size; to++) {
    if (to != late) message(late, to);
  }
}

// To a root that is not late, and from there to all.
static void rooted(int late) {
  int sum;
  (void)late;
  MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 3, MPI_COMM_WORLD);
  MPI_Bcast(&sum, 1, MPI_INT, 3, MPI_COMM_WORLD);
}

static void in_part(int late) {
  (void)late;
  if (some != MPI_COMM_NULL) MPI_Barrier(some);
  message(2, 3);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4 || size != 4) MPI_Abort(MPI_COMM_WORLD, 1);
  void (*const ways[])(int) = {messages, rooted, in_part};
  const char* const names[] = {"messages", "rooted", "part"};
  void (*first)(int) = messages;
  void (*second)(int) = rooted;
  for (int i = 0; i < 3; i++) {
    if (strcmp(argv[1], names[i]) == 0) first = second = ways[i];
  }
  MPI_Comm_split(MPI_COMM_WORLD, rank < 3 ? 0 : MPI_UNDEFINED, rank, &some);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) sleep_ms(argv[2]);
  first(0);
  if (rank == 1) sleep_ms(argv[3]);
  second(1);
  if (some != MPI_COMM_NULL) MPI_Comm_free(&some);
  MPI_Finalize();
}

// SPDX-License-Identifier: BSD-3-Clause
// Communicators that come and go: 2,000 made and freed in a loop, handles used again for other
// members, and communicators freed while sends and receives on them are pending.
#include "../expect.h"

enum { kLoop = 2000, kPending = 40 };
static char out[100000], in[100000];
static int next, previous;

static long resident_kib(void) {
  char text[256];
  long kib = 0;
  FILE* status = fopen("/proc/self/status", "r");
  while (status && fgets(text, sizeof text, status))
    if (sscanf(text, "VmRSS: %ld", &kib) == 1) break;
  if (status) fclose(status);
  return kib;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  expect_may("library");
  next = (world_rank + 1) % world_size;
  previous = (world_rank + world_size - 1) % world_size;
  MPI_Comm comm;
  MPI_Request requests[2];

  // The last two loops of four may not need more memory than the first two, give or take 2 MiB.
  long after_warm_up = 0;
  for (int i = 0; i < kLoop; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Sendrecv(out, 12, MPI_BYTE, next, 0, in, 12, MPI_BYTE, previous, 0, comm,
                 MPI_STATUS_IGNORE);
    expect_label(comm, "MPI_Comm_dup");
    expect_message(comm, next, 12, 1);
    if (i == 0) expect_instances(comm, kLoop + kPending);
    if (i == kLoop / 2) after_warm_up = resident_kib();
    MPI_Comm_free(&comm);
  }
  if (resident_kib() - after_warm_up > 2048)
    fprintf(stderr, "lifetimes: rank %d grew by %ld KiB in %d communicators\n", world_rank,
            resident_kib() - after_warm_up, kLoop / 2);
  require(resident_kib() - after_warm_up <= 2048);

  // The same handle, other members each time: a stale mapping would credit the wrong rank.
  for (int shift = 0; shift < 3 * world_size; shift++) {
    int rank, size;
    MPI_Comm_split(MPI_COMM_WORLD, shift % 3 == 2 ? world_rank % 2 : 0,
                   (world_rank + shift) % world_size, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    expect_label(comm, "MPI_Comm_split");
    MPI_Sendrecv(out, 100 + shift, MPI_BYTE, 0, 0, in, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm,
                 MPI_STATUS_IGNORE);
    expect_message(comm, 0, 100 + shift, 1);
    for (int i = 0; rank == 0 && i < size; i++)
      MPI_Recv(in, 1000, MPI_BYTE, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
  }

  // Freed with pending requests, eager and rendezvous; a new communicator takes the handle
  // meanwhile.
  for (int i = 0; i < kPending; i++) {
    MPI_Comm old, between;
    int size = i % 4 == 3 ? 100000 : 300 * (i % 4);
    MPI_Comm_dup(MPI_COMM_WORLD, &old);
    expect_label(old, "MPI_Comm_dup");
    MPI_Irecv(in, 100000, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : previous, 0, old, &requests[0]);
    if (i % 8 < 4) {
      MPI_Isend(out, size, MPI_BYTE, next, 0, old, &requests[1]);
      expect_message(old, next, size, 1);
      MPI_Comm_free(&old);
    } else {
      // A rendezvous that starts before the free and ends after it.
      MPI_Issend(out, size, MPI_BYTE, next, 0, old, &requests[1]);
      expect_message(old, next, size, 1);
      MPI_Comm_free(&old);
    }
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, &between);
    expect_label(between, "MPI_Comm_split");
    int rank, members;
    MPI_Comm_rank(between, &rank);
    MPI_Comm_size(between, &members);
    MPI_Sendrecv(out, 5, MPI_BYTE, (rank + 1) % members, 0, in + 50000 - 5, 5, MPI_BYTE,
                 (rank + members - 1) % members, 0, between, MPI_STATUS_IGNORE);
    expect_message(between, (rank + 1) % members, 5, 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&between);
  }
  report_ok("lifetimes");
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Computes and communicates until it is told to stop: rank 0 stops the others when FILE exists.
//
// usage: busy FILE LOG [paused]   each rank writes to LOG.RANK, after each message, how many messages
// and bytes it has sent. paused: stays where it is when FILE exists, without ending.
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char** argv) {
  static char sent[4000], received[4000];
  char name[4096];
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  snprintf(name, sizeof name, "%s.%d", argv[2], rank);
  const int file = open(name, O_RDWR | O_CREAT, 0600);
  volatile uint64_t* log = MAP_FAILED;
  if (file >= 0 && ftruncate(file, 4096) == 0)
    log = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (log == MAP_FAILED) return 1;
  const int pauses = argc > 3 && strcmp(argv[3], "paused") == 0;
  for (int round = 0, go_on = 1; go_on; ++round) {
    const int bytes = round % 7 * 500 + rank;
    volatile double sum = 0;
    for (int i = 0; i < 20000; ++i) sum = sum + i;
    MPI_Sendrecv(sent, bytes, MPI_CHAR, (rank + 1) % size, round % 3, received, sizeof received,
                 MPI_CHAR, (rank + size - 1) % size, round % 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    log[0] += 1;
    log[1] += (uint64_t)bytes;
    if (round % 10 == 0) {
      int stop = rank == 0 && access(argv[1], F_OK) == 0;
      MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
      go_on = !stop;
    }
  }
  log[2] = 1;
  while (pauses) usleep(1000);
  MPI_Finalize();
  if (rank == 0) puts("done");
  return 0;
}

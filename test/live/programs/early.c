// SPDX-License-Identifier: BSD-3-Clause
// Each rank exchanges a few messages with its neighbours as soon as all have begun, and kills itself at
// once.
//
// usage: early FILE LOG   FILE is not used; each rank writes to LOG.RANK, after each message, how many
// messages and bytes it has received.
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char** argv) {
  static char sent[100], received[100];
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
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) {
    MPI_Sendrecv(sent, sizeof sent, MPI_CHAR, (rank + 1) % size, 5, received, sizeof received,
                 MPI_CHAR, (rank + size - 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    log[0] += 1;
    log[1] += sizeof received;
  }
  kill(getpid(), SIGKILL);
  return 0;
}

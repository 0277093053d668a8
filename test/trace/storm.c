// SPDX-License-Identifier: BSD-3-Clause
// Sends messages around a ring until it is killed, or `SECONDS` are over, and counts each in a file
// as soon as its call has returned: what a trace must hold of a process that is killed.
//
//   storm FILE SECONDS MICROSECONDS     FILE.RANK holds a 64-bit count; a pause between messages
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, size;
  char path[4096], out = 1, in;
  if (argc != 4) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  snprintf(path, sizeof path, "%s.%d", argv[1], rank);
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
  if (file < 0 || ftruncate(file, sizeof(uint64_t)) != 0) return 3;
  volatile uint64_t* count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (count == MAP_FAILED) return 4;
  const double end = MPI_Wtime() + atof(argv[2]);
  const int pause = atoi(argv[3]);
  int goes_on = 1;
  while (goes_on) {
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_BYTE, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &request);
    MPI_Send(&out, 1, MPI_BYTE, (rank + 1) % size, 7, MPI_COMM_WORLD);
    *count += 1;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (*count % 64 == 0) {
      goes_on = MPI_Wtime() < end;
      MPI_Allreduce(MPI_IN_PLACE, &goes_on, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    }
    if (pause > 0) usleep((useconds_t)pause);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("storm: over\n");
  MPI_Finalize();
  return 0;
}

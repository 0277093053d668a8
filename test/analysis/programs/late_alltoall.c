// SPDX-License-Identifier: BSD-3-Clause
// An all-to-all to which the last rank comes late:  late_alltoall BYTES MILLISECONDS
// BYTES go to each rank, and the others have sent theirs when the last one enters.
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int bytes = argc > 1 ? atoi(argv[1]) : 1000, late_ms = argc > 2 ? atoi(argv[2]) : 100;
  char* out = calloc((size_t)size, (size_t)bytes);
  char* in = calloc((size_t)size, (size_t)bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  const struct timespec late = {late_ms / 1000, late_ms % 1000 * 1000000L};
  if (rank == size - 1) nanosleep(&late, NULL);
  MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}

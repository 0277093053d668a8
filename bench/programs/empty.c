// SPDX-License-Identifier: BSD-3-Clause
/* Only MPI_Init and MPI_Finalize: counts what these two send. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  return 0;
}

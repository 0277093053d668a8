// SPDX-License-Identifier: BSD-3-Clause
/* MPI_Init and MPI_Finalize: what these two send by themselves is the rest. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  return 0;
}

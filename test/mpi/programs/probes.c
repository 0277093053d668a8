// SPDX-License-Identifier: BSD-3-Clause
// Asks the loader whether this MPI has functions that only some releases have, before and after
// MPI_Init: the answer must be the same with Fathom, which knows them all.
#include <dlfcn.h>

#include "../expect.h"

static void probe(void) {
  static const char* const names[] = {"MPI_Send",       "PMPI_Send",        "MPIX_Bcast_init",
                                      "MPI_Bcast_init", "MPI_Session_init", "PMPI_Session_init",
                                      "MPI_Psend_init", "MPI_Send_c",       "PMPI_Allreduce_c"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    printf("%s %s\n", names[i], dlsym(RTLD_DEFAULT, names[i]) != NULL ? "is there" : "is missing");
}

int main(int argc, char** argv) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank != NULL && strcmp(rank, "0") == 0) probe();
  MPI_Init(&argc, &argv);
  expect_start();
  if (world_rank == 0) probe();
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Programs that never call MPI_Init although they are linked with MPI, or that ask before, after
// and often.
//
//   no_init | no_init ask | no_init thread LEVEL
#include "../expect.h"

int main(int argc, char** argv) {
  int flag = -1, finalized = -1, provided, i;
  for (i = 0; i < 1000; i++) MPI_Initialized(&flag);
  MPI_Finalized(&finalized);
  if (flag || finalized) return 1;
  if (argc < 2) {
    const char* rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank && atoi(rank) == 0) printf("no_init: never initialized\n");
    return 0;
  }
  if (!strcmp(argv[1], "thread")) {
    int level = argc > 2 ? atoi(argv[2]) : MPI_THREAD_SINGLE;
    MPI_Init_thread(NULL, NULL, level, &provided);
    if (provided < level) return 2;
  } else {
    MPI_Init(NULL, NULL);
  }
  for (i = 0; i < 1000; i++) MPI_Initialized(&flag);
  MPI_Finalized(&finalized);
  if (!flag || finalized) return 3;
  expect_start();
  char data = 0;
  if (world_rank == 0) {
    MPI_Send(&data, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    expect_message(MPI_COMM_WORLD, 1, 1, 1);
  }
  if (world_rank == 1) MPI_Recv(&data, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  report_ok("no_init");
  MPI_Finalize();
  for (i = 0; i < 1000; i++) MPI_Initialized(&flag);
  MPI_Finalized(&finalized);
  return flag && finalized ? 0 : 4;
}

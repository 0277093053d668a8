// SPDX-License-Identifier: BSD-3-Clause
/* A little of everything, on two ranks, with no leak of its own: run under Valgrind with and without
 * the library. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size, value = 0, sum = 0;
  double block[64] = {0}, other[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;

  MPI_Sendrecv(block, 64, MPI_DOUBLE, next, 1, other, 64, MPI_DOUBLE, before, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Request requests[2];
  MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&rank, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

  /* To itself, beyond the eager limit, as the library's start-up check does: a PERUSE build of Open MPI
   * reads the tag of such a receive before it is set (ompi_spc_record), with or without Fathom. In MPI_COMM_WORLD it
   * could match the neighbour's next message. */
  static char out[70000], in[70000];
  MPI_Irecv(in, 70000, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &requests[0]);
  MPI_Isend(out, 70000, MPI_BYTE, 0, 4, MPI_COMM_SELF, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

  MPI_Recv_init(&value, 1, MPI_INT, before, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(&rank, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 3; ++i) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);

  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Bcast(block, 64, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  for (int i = 0; i < 20; ++i) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
  }

  MPI_Win window;
  MPI_Win_create(other, sizeof other, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(block, 8, MPI_DOUBLE, next, 0, 8, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  printf("%d\n", sum);
  return 0;
}

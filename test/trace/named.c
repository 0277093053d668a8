// SPDX-License-Identifier: BSD-3-Clause
// Two communicators made in the same way, one of which gets a name, and messages on them and on
// MPI_COMM_WORLD: which of them a trace holds when communicators are chosen. Also a matched
// receive, whose call names no communicator.
#include <mpi.h>
#include <stdio.h>

static void exchange(MPI_Comm comm) {
  int rank, size, in, out = 1;
  MPI_Request request;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 1, comm, &request);
  MPI_Message message;
  MPI_Mprobe((rank + size - 1) % size, 1, comm, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm named, nameless;
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &named);
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &nameless);
  MPI_Comm_set_name(named, "solver");
  exchange(MPI_COMM_WORLD);
  exchange(named);
  exchange(nameless);
  MPI_Comm_free(&named);
  MPI_Comm_free(&nameless);
  printf("named: over\n");
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
/* Calls whose records are written down line by line (expected/calls_c.*.txt). Two ranks. */
#include <mpi.h>

enum { N = 1000 };
static int rank, other, out[N], in[N];

static void exchange(void) {
  MPI_Request r[3];
  MPI_Irecv(in, N, MPI_INT, other, 1, MPI_COMM_WORLD, r);
  MPI_Isend(out, N, MPI_INT, other, 1, MPI_COMM_WORLD, r + 1);
  r[2] = MPI_REQUEST_NULL;
  MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
  MPI_Sendrecv(out, 10, MPI_INT, other, 2, in, 20, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(in, N, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void again_and_again(void) {
  MPI_Request r[2];
  MPI_Status s[2];
  int index;
  MPI_Recv_init(in, N, MPI_INT, other, 3, MPI_COMM_WORLD, r);
  MPI_Ssend_init(out, N, MPI_INT, other, 3, MPI_COMM_WORLD, r + 1);
  for (int i = 0; i < 2; ++i) {
    MPI_Startall(2, r);
    MPI_Wait(r, s);
    MPI_Waitany(2, r, &index, s);
  }
  MPI_Wait(r, s); /* not started: nothing completes */
  MPI_Request_free(r);
  MPI_Request_free(r + 1);
  MPI_Irecv(in, N, MPI_INT, other, 99, MPI_COMM_WORLD, r);
  MPI_Cancel(r);
  MPI_Wait(r, s);
}

/* More requests than a wait keeps on the stack. */
static void many(void) {
  MPI_Request r[20];
  for (int i = 0; i < 20; ++i)
    MPI_Irecv(in + i, 1, MPI_INT, MPI_PROC_NULL, i, MPI_COMM_WORLD, r + i);
  MPI_Waitall(20, r, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 20; ++i) MPI_Recv_init(in + i, 1, MPI_INT, other, i, MPI_COMM_WORLD, r + i);
  MPI_Startall(19, r);
  for (int i = 0; i < 19; ++i) MPI_Ssend(out + i, 1, MPI_INT, other, i, MPI_COMM_WORLD);
  MPI_Waitall(20, r, MPI_STATUSES_IGNORE); /* the last was not started */
  for (int i = 0; i < 20; ++i) MPI_Request_free(r + i);
}

/* Lengths that do not fit 32 bits; nobody receives them. */
static void huge(void) {
  MPI_Datatype gibibyte;
  MPI_Type_contiguous(1 << 30, MPI_BYTE, &gibibyte);
  MPI_Type_commit(&gibibyte);
  MPI_Send(out, 5, gibibyte, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
  MPI_Sendrecv(out, 1, gibibyte, MPI_PROC_NULL, 1, in, 4, gibibyte, MPI_PROC_NULL, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(out, 6, gibibyte, MPI_PROC_NULL, 1, in, 7, gibibyte, MPI_PROC_NULL, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&gibibyte);
}

static void together(void) {
  const int counts[2] = {3, 4}, displs[2] = {0, 3};
  MPI_Comm comm;
  MPI_Request r;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Bcast(out, 5, MPI_INT, 1, comm);
  MPI_Gatherv(rank == 1 ? MPI_IN_PLACE : (void *)out, 3, MPI_INT, in, rank == 1 ? counts : 0,
              rank == 1 ? displs : 0, rank == 1 ? MPI_INT : MPI_DATATYPE_NULL, 1, comm);
  MPI_Alltoallv(out, counts, displs, MPI_INT, in, rank == 0 ? (int[]){3, 3} : (int[]){4, 4},
                (int[]){0, 4}, MPI_INT, comm);
  MPI_Iallreduce(MPI_IN_PLACE, in, 7, MPI_INT, MPI_SUM, comm, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other = 1 - rank;
  exchange();
  again_and_again();
  many();
  huge();
  together();
  return MPI_Finalize();
}

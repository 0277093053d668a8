// SPDX-License-Identifier: BSD-3-Clause
/* Calls with predefined handles and special values, whose records are written down line by line
 * (expected/calls_predefined.*.txt). They are the same with the standard ABI, where the handles,
 * some values, the error classes and the status are others. Two ranks. */
#include <mpi.h>

enum { N = 100 };
static int rank, other, out[N], in[N];

/* The length of each type, as the record of a call has it. */
static void types(void) {
  const MPI_Datatype all[] = {MPI_AINT,
                              MPI_COUNT,
                              MPI_OFFSET,
                              MPI_PACKED,
                              MPI_SHORT,
                              MPI_INT,
                              MPI_LONG,
                              MPI_LONG_LONG,
                              MPI_LONG_LONG_INT,
                              MPI_UNSIGNED_SHORT,
                              MPI_UNSIGNED,
                              MPI_UNSIGNED_LONG,
                              MPI_UNSIGNED_LONG_LONG,
                              MPI_FLOAT,
                              MPI_C_COMPLEX,
                              MPI_C_FLOAT_COMPLEX,
                              MPI_DOUBLE,
                              MPI_C_DOUBLE_COMPLEX,
                              MPI_LONG_DOUBLE,
                              MPI_C_LONG_DOUBLE_COMPLEX,
                              MPI_C_BOOL,
                              MPI_WCHAR,
                              MPI_INT8_T,
                              MPI_UINT8_T,
                              MPI_CHAR,
                              MPI_SIGNED_CHAR,
                              MPI_UNSIGNED_CHAR,
                              MPI_BYTE,
                              MPI_INT16_T,
                              MPI_UINT16_T,
                              MPI_INT32_T,
                              MPI_UINT32_T,
                              MPI_INT64_T,
                              MPI_UINT64_T,
                              MPI_FLOAT_INT,
                              MPI_DOUBLE_INT,
                              MPI_LONG_INT,
                              MPI_2INT,
                              MPI_SHORT_INT,
                              MPI_LONG_DOUBLE_INT};
  for (int i = 0; i < (int)(sizeof all / sizeof *all); ++i)
    MPI_Send(out, 1, all[i], MPI_PROC_NULL, i, MPI_COMM_WORLD);
}

/* The second of two is that of a cancelled receive; another has an error. */
static void statuses(void) {
  MPI_Request r[2];
  MPI_Status s[2];
  MPI_Irecv(in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, r);
  MPI_Irecv(in + 1, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, r + 1);
  MPI_Cancel(r + 1);
  MPI_Send(out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
  MPI_Waitall(2, r, s);
  MPI_Barrier(MPI_COMM_WORLD); /* nothing was sent that the cancelled receive could take */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Irecv(in, 1, MPI_INT, other, 1, MPI_COMM_WORLD, r);
  MPI_Send(out, 2, MPI_INT, other, 1, MPI_COMM_WORLD);
  MPI_Waitall(1, r, s); /* truncated: MPI_ERR_IN_STATUS */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void nothing(void) {
  MPI_Request r = MPI_REQUEST_NULL;
  MPI_Message message;
  MPI_Comm comm;
  int flag;
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
  MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Mprobe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &comm);
  MPI_Comm_set_name(MPI_COMM_SELF, "alone");
}

static void roots(void) {
  MPI_Comm self, inter;
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  MPI_Intercomm_create(self, 0, MPI_COMM_WORLD, other, 5, &inter);
  MPI_Bcast(out, 3, MPI_INT, rank == 0 ? MPI_ROOT : 0, inter);
  MPI_Reduce(out, in, 3, MPI_INT, MPI_SUM, rank == 0 ? MPI_ROOT : 0, inter);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&self);
  MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_INT, MPI_MAX, MPI_COMM_SELF);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT, MPI_COMM_WORLD);
}

static void windows(void) {
  MPI_Win win;
  MPI_Win_create(in, sizeof in, sizeof *in, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win);
  MPI_Put(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
  MPI_Get_accumulate(out, 1, MPI_INT, out + 1, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_NO_OP, win);
  MPI_Fetch_and_op(out, out + 1, MPI_INT, other, 0, MPI_NO_OP, win);
  MPI_Fetch_and_op(out, out + 1, MPI_INT, other, 0, MPI_SUM, win);
  MPI_Win_unlock(other, win);
  MPI_Win_free(&win);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other = 1 - rank;
  types();
  statuses();
  nothing();
  roots();
  windows();
  return MPI_Finalize();
}

// SPDX-License-Identifier: BSD-3-Clause
// A program of standard MPI, for whichever library compiled it: prints what must come out, and ends
// with 3.
#include <mpi.h>
#include <stdio.h>

static int delete_calls;
static int count_delete(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  ++delete_calls;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int provided = -1, before = -1;
  MPI_Initialized(&before);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int rank = -1, size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  int token = rank, from = -1;
  MPI_Status status;
  MPI_Sendrecv(&token, 1, MPI_INT, (rank + 1) % size, 5, &from, 1, MPI_INT, MPI_ANY_SOURCE, 5,
               MPI_COMM_WORLD, &status);
  int count = -1;
  MPI_Get_count(&status, MPI_INT, &count);

  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_set_name(half, "half");
  int key, found = 0, *value = 0;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_delete, &key, 0);
  MPI_Comm_set_attr(half, key, &token);
  MPI_Comm_get_attr(half, key, &value, &found);
  double mine = rank, sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, half);

  double sent[3] = {rank, 2, 3}, got[3] = {0};
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Irecv(got, 3, MPI_DOUBLE, rank, 9, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(sent, 3, MPI_DOUBLE, rank, 9, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  MPI_Request barrier;
  MPI_Ibarrier(half, &barrier);
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);

  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  int window[2] = {-1, -1}, put[2] = {rank, rank * rank};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(put, 1, pair, (rank + 1) % size, 0, 1, pair, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Type_free(&pair);
  MPI_Pcontrol(1);

  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int error = MPI_Send(&token, 1, MPI_INT, size, 0, MPI_COMM_WORLD);  // there is no such rank
  int error_class = -1;
  MPI_Error_class(error, &error_class);
  MPI_Comm_free(&half);
  PMPI_Barrier(MPI_COMM_WORLD);
  printf(
      "rank %d of %d: before %d, thread level %d, from %d count %d, sum %g, attribute %d deleted "
      "%d, got %g, put %d %d, "
      "bad rank %d\n",
      rank, size, before, provided == MPI_THREAD_FUNNELED, from, count, sum,
      found && value == &token, delete_calls, got[0], window[0], window[1],
      error_class == MPI_ERR_RANK);
  MPI_Finalize();
  return 3;
}

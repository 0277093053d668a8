// SPDX-License-Identifier: BSD-3-Clause
// Programs whose costs along the path are known:  costs CASE
#include <mpi.h>
#include <time.h>

#include "cases.h"

enum { kInts = 100, kDoubles = 1024 };
static int rank, size, out[kInts], in[kInts];
static double values[kDoubles], others[4 * kDoubles];

static int right(void) { return (rank + 1) % size; }
static int left(void) { return (rank + size - 1) % size; }
static void send(void) { MPI_Send(out, kInts, MPI_INT, right(), 0, MPI_COMM_WORLD); }

// critter's example: computation of 2 ms times rank + 1, messages, collectives, ten times.
static void example(void) {
  for (int i = 0; i < 10; i++) {
    struct timespec time = {0, 2000000L * (rank + 1)};
    nanosleep(&time, NULL);
    if (rank % 2 == 0) MPI_Send(values, kDoubles, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
    if (rank % 2 == 1)
      MPI_Recv(values, kDoubles, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(values, kDoubles, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Allreduce(values, others, kDoubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(values, kDoubles, MPI_DOUBLE, others, kDoubles, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
static void ring(void) {
  send();
  MPI_Recv(in, kInts, MPI_INT, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void irecv_send_wait(void) {
  MPI_Request request;
  MPI_Irecv(in, kInts, MPI_INT, left(), 0, MPI_COMM_WORLD, &request);
  send();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void any_source(void) {
  send();
  MPI_Recv(in, kInts, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void post(MPI_Request* requests) {
  MPI_Irecv(in, kInts, MPI_INT, left(), 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, kInts, MPI_INT, right(), 0, MPI_COMM_WORLD, &requests[1]);
}
static void two_waits(void) {
  MPI_Request requests[2];
  post(requests);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}
static void waitall_with_null(void) {
  MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  post(requests);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}
static void testing(void) {
  MPI_Request requests[2];
  post(requests);
  for (int done = 0; !done;) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
  for (int done = 0; !done;) MPI_Testall(1, &requests[1], &done, MPI_STATUSES_IGNORE);
}
static void sendrecv(void) {
  MPI_Sendrecv(out, kInts, MPI_INT, right(), 0, in, kInts, MPI_INT, left(), 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

static void posted_waitall(void) {
  MPI_Request requests[2];
  post(requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
static void bsend_testany(void) {
  static char buffer[kInts * sizeof(int) + MPI_BSEND_OVERHEAD];
  void* detached;
  int at, length;
  MPI_Request request;
  MPI_Irecv(in, kInts, MPI_INT, left(), 0, MPI_COMM_WORLD, &request);
  MPI_Buffer_attach(buffer, sizeof buffer);
  MPI_Bsend(out, kInts, MPI_INT, right(), 0, MPI_COMM_WORLD);
  for (int done = 0; !done;) MPI_Testany(1, &request, &at, &done, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&detached, &length);
}
static void persistent(void) {
  MPI_Request requests[2];
  MPI_Recv_init(in, kInts, MPI_INT, left(), 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(out, kInts, MPI_INT, right(), 0, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 2; i++) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}
static void ireduce(void) {
  MPI_Request request;
  MPI_Ireduce(out, in, kInts, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void vectors(void) {
  int counts[4] = {25, 25, 25, 25}, begins[4] = {0, 25, 50, 75};
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Scatterv(out, counts, begins, MPI_INT, in, 25, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Alltoallv(out, counts, begins, MPI_INT, in, counts, begins, MPI_INT, MPI_COMM_WORLD);
}

static const struct Case cases[] = {{"example", example},
                                    {"ring", ring},
                                    {"irecv_send_wait", irecv_send_wait},
                                    {"any_source", any_source},
                                    {"two_waits", two_waits},
                                    {"waitall_with_null", waitall_with_null},
                                    {"testing", testing},
                                    {"sendrecv", sendrecv},
                                    {"posted_waitall", posted_waitall},
                                    {"bsend_testany", bsend_testany},
                                    {"persistent", persistent},
                                    {"ireduce", ireduce},
                                    {"vectors", vectors}};

int main(int argc, char** argv) { return RUN_CASE(cases, argc, argv, &rank, &size); }

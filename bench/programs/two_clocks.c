// SPDX-License-Identifier: BSD-3-Clause
// What a profiler costs that only reads the clock before and after each call, as mpiP does (without
// its walk up the stack and its table of call sites): a yardstick for the times of a profile.
#include <mpi.h>
#include <time.h>

static double seconds;
static unsigned long calls;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#define TIMED(call)           \
  const double begin = now(); \
  const int result = call;    \
  seconds += now() - begin;   \
  calls += 1;                 \
  return result

int MPI_Send(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  TIMED(PMPI_Send(b, n, t, to, tag, c));
}
int MPI_Recv(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s) {
  TIMED(PMPI_Recv(b, n, t, from, tag, c, s));
}
int MPI_Isend(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  TIMED(PMPI_Isend(b, n, t, to, tag, c, r));
}
int MPI_Irecv(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r) {
  TIMED(PMPI_Irecv(b, n, t, from, tag, c, r));
}
int MPI_Sendrecv(const void* b, int n, MPI_Datatype t, int to, int tag, void* b2, int n2,
                 MPI_Datatype t2, int from, int tag2, MPI_Comm c, MPI_Status* s) {
  TIMED(PMPI_Sendrecv(b, n, t, to, tag, b2, n2, t2, from, tag2, c, s));
}
int MPI_Wait(MPI_Request* r, MPI_Status* s) { TIMED(PMPI_Wait(r, s)); }
int MPI_Waitall(int n, MPI_Request* r, MPI_Status* s) { TIMED(PMPI_Waitall(n, r, s)); }
int MPI_Waitany(int n, MPI_Request* r, int* i, MPI_Status* s) { TIMED(PMPI_Waitany(n, r, i, s)); }
int MPI_Test(MPI_Request* r, int* f, MPI_Status* s) { TIMED(PMPI_Test(r, f, s)); }
int MPI_Testany(int n, MPI_Request* r, int* i, int* f, MPI_Status* s) {
  TIMED(PMPI_Testany(n, r, i, f, s));
}
int MPI_Iprobe(int from, int tag, MPI_Comm c, int* f, MPI_Status* s) {
  TIMED(PMPI_Iprobe(from, tag, c, f, s));
}
int MPI_Barrier(MPI_Comm c) { TIMED(PMPI_Barrier(c)); }
int MPI_Bcast(void* b, int n, MPI_Datatype t, int root, MPI_Comm c) {
  TIMED(PMPI_Bcast(b, n, t, root, c));
}
int MPI_Reduce(const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c) {
  TIMED(PMPI_Reduce(a, b, n, t, o, root, c));
}
int MPI_Allreduce(const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
  TIMED(PMPI_Allreduce(a, b, n, t, o, c));
}
int MPI_Alltoall(const void* a, int n, MPI_Datatype t, void* b, int n2, MPI_Datatype t2,
                 MPI_Comm c) {
  TIMED(PMPI_Alltoall(a, n, t, b, n2, t2, c));
}

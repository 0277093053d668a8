// One collective, five times:  collectives OPERATION COUNT ROOT
// Non-blocking ones are under way all at once, and go on in a barrier.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, count, root, *out, *in, *counts, *begins;

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void bcast(void) { MPI_Bcast(out, count, MPI_INT, root, MPI_COMM_WORLD); }
static void reduce(void) { MPI_Reduce(out, in, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD); }
static void allreduce(void) { MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
static void gather(void) { MPI_Gather(out, count, MPI_INT, in, count, MPI_INT, root, MPI_COMM_WORLD); }
static void scatter(void) { MPI_Scatter(out, count, MPI_INT, in, count, MPI_INT, root, MPI_COMM_WORLD); }
static void allgather(void) { MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD); }
static void allgatherv(void) {
  MPI_Allgatherv(out, count, MPI_INT, in, counts, begins, MPI_INT, MPI_COMM_WORLD);
}
static void alltoall(void) { MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD); }
static void alltoallv(void) {
  MPI_Alltoallv(out, counts, begins, MPI_INT, in, counts, begins, MPI_INT, MPI_COMM_WORLD);
}
static void reduce_scatter(void) { MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
static void reduce_scatter_block(void) {
  MPI_Reduce_scatter_block(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static void scan(void) { MPI_Scan(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
static void exscan(void) { MPI_Exscan(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {{"barrier", barrier}, {"bcast", bcast}, {"reduce", reduce}, {"allreduce", allreduce}, {"gather", gather},
             {"scatter", scatter}, {"allgather", allgather}, {"allgatherv", allgatherv}, {"alltoall", alltoall},
             {"alltoallv", alltoallv}, {"reduce_scatter", reduce_scatter},
             {"reduce_scatter_block", reduce_scatter_block}, {"scan", scan}, {"exscan", exscan}};

#define TIMES 5
#define WORLD MPI_COMM_WORLD

static MPI_Request requests[TIMES], *request;

static void ibarrier(void) { MPI_Ibarrier(WORLD, request); }
static void ibcast(void) { MPI_Ibcast(in, count, MPI_INT, root, WORLD, request); }
static void ireduce(void) { MPI_Ireduce(out, in, count, MPI_INT, MPI_SUM, root, WORLD, request); }
static void iallreduce(void) { MPI_Iallreduce(out, in, count, MPI_INT, MPI_SUM, WORLD, request); }
static void igather(void) { MPI_Igather(out, count, MPI_INT, in, count, MPI_INT, root, WORLD, request); }
static void iscatter(void) { MPI_Iscatter(out, count, MPI_INT, in, count, MPI_INT, root, WORLD, request); }
static void iallgather(void) { MPI_Iallgather(out, count, MPI_INT, in, count, MPI_INT, WORLD, request); }
static void iallgatherv(void) { MPI_Iallgatherv(out, count, MPI_INT, in, counts, begins, MPI_INT, WORLD, request); }
static void ialltoall(void) { MPI_Ialltoall(out, count, MPI_INT, in, count, MPI_INT, WORLD, request); }
static void ialltoallv(void) {
  MPI_Ialltoallv(out, counts, begins, MPI_INT, in, counts, begins, MPI_INT, WORLD, request);
}
static void ireduce_scatter(void) { MPI_Ireduce_scatter(out, in, counts, MPI_INT, MPI_SUM, WORLD, request); }
static void ireduce_scatter_block(void) { MPI_Ireduce_scatter_block(out, in, count, MPI_INT, MPI_SUM, WORLD, request); }
static void iscan(void) { MPI_Iscan(out, in, count, MPI_INT, MPI_SUM, WORLD, request); }
static void iexscan(void) { MPI_Iexscan(out, in, count, MPI_INT, MPI_SUM, WORLD, request); }

static const struct {
  const char* name;
  void (*start)(void);
} non_blocking[] = {{"ibarrier", ibarrier}, {"ibcast", ibcast}, {"ireduce", ireduce}, {"iallreduce", iallreduce},
                    {"igather", igather}, {"iscatter", iscatter}, {"iallgather", iallgather},
                    {"iallgatherv", iallgatherv}, {"ialltoall", ialltoall}, {"ialltoallv", ialltoallv},
                    {"ireduce_scatter", ireduce_scatter}, {"ireduce_scatter_block", ireduce_scatter_block},
                    {"iscan", iscan}, {"iexscan", iexscan}};

static void together(void (*start)(void)) {
  int* first = in;
  for (int times = 0; times < TIMES; times++) {
    request = &requests[times];
    in = first + (size_t)times * count * size;
    start();
  }
  MPI_Barrier(WORLD);
  MPI_Waitall(TIMES, requests, MPI_STATUSES_IGNORE);
  in = first;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  count = atoi(argv[argc - 2]);
  root = atoi(argv[argc - 1]) % size;
  out = calloc((size_t)count * size, sizeof(int));
  in = calloc((size_t)count * size * TIMES, sizeof(int));
  counts = malloc(sizeof(int) * size);
  begins = malloc(sizeof(int) * size);
  for (int i = 0; i < size; i++) counts[i] = count, begins[i] = i * count;
  for (int i = 1; i < argc - 2; i++) {
    for (unsigned one = 0; one < sizeof cases / sizeof cases[0]; one++) {
      if (strcmp(cases[one].name, argv[i]) != 0) continue;
      for (int times = 0; times < TIMES; times++) cases[one].run();
    }
    for (unsigned one = 0; one < sizeof non_blocking / sizeof non_blocking[0]; one++) {
      if (strcmp(non_blocking[one].name, argv[i]) == 0) together(non_blocking[one].start);
    }
  }
  MPI_Finalize();
  return 0;
}

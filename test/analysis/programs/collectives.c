// SPDX-License-Identifier: BSD-3-Clause
// One collective, five times:  collectives OPERATION COUNT ROOT
// Non-blocking ones are under way all at once, and go on in a barrier; but MPI_Comm_idup, one at a
// time. Neighbours are those on a ring, on a grid that is not periodic, or ranks 0 and the next on
// a graph (ring_, grid_, graph_).
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, count, root, *out, *in, *counts, *begins;

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void bcast(void) { MPI_Bcast(out, count, MPI_INT, root, MPI_COMM_WORLD); }
static void reduce(void) { MPI_Reduce(out, in, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD); }
static void allreduce(void) { MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
static void gather(void) {
  MPI_Gather(out, count, MPI_INT, in, count, MPI_INT, root, MPI_COMM_WORLD);
}
static void scatter(void) {
  MPI_Scatter(out, count, MPI_INT, in, count, MPI_INT, root, MPI_COMM_WORLD);
}
static void allgather(void) {
  MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD);
}
static void allgatherv(void) {
  MPI_Allgatherv(out, count, MPI_INT, in, counts, begins, MPI_INT, MPI_COMM_WORLD);
}
static void alltoall(void) {
  MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD);
}
static void alltoallv(void) {
  MPI_Alltoallv(out, counts, begins, MPI_INT, in, counts, begins, MPI_INT, MPI_COMM_WORLD);
}
static void reduce_scatter(void) {
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static void reduce_scatter_block(void) {
  MPI_Reduce_scatter_block(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static void scan(void) { MPI_Scan(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
static void exscan(void) { MPI_Exscan(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
static MPI_Comm made;
static void comm_dup(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Comm_free(&made);
}
static void comm_idup(void) {
  MPI_Request request;
  MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&made);
}
static void comm_split(void) {
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &made);
  MPI_Comm_free(&made);
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {{"barrier", barrier},
             {"bcast", bcast},
             {"reduce", reduce},
             {"allreduce", allreduce},
             {"gather", gather},
             {"scatter", scatter},
             {"allgather", allgather},
             {"allgatherv", allgatherv},
             {"alltoall", alltoall},
             {"alltoallv", alltoallv},
             {"reduce_scatter", reduce_scatter},
             {"reduce_scatter_block", reduce_scatter_block},
             {"scan", scan},
             {"exscan", exscan},
             {"comm_dup", comm_dup},
             {"comm_idup", comm_idup},
             {"comm_split", comm_split}};

#define TIMES 5
#define WORLD MPI_COMM_WORLD

static MPI_Request requests[TIMES], *request;

static void ibarrier(void) { MPI_Ibarrier(WORLD, request); }
static void ibcast(void) { MPI_Ibcast(in, count, MPI_INT, root, WORLD, request); }
static void ireduce(void) { MPI_Ireduce(out, in, count, MPI_INT, MPI_SUM, root, WORLD, request); }
static void iallreduce(void) { MPI_Iallreduce(out, in, count, MPI_INT, MPI_SUM, WORLD, request); }
static void igather(void) {
  MPI_Igather(out, count, MPI_INT, in, count, MPI_INT, root, WORLD, request);
}
static void iscatter(void) {
  MPI_Iscatter(out, count, MPI_INT, in, count, MPI_INT, root, WORLD, request);
}
static void iallgather(void) {
  MPI_Iallgather(out, count, MPI_INT, in, count, MPI_INT, WORLD, request);
}
static void iallgatherv(void) {
  MPI_Iallgatherv(out, count, MPI_INT, in, counts, begins, MPI_INT, WORLD, request);
}
static void ialltoall(void) {
  MPI_Ialltoall(out, count, MPI_INT, in, count, MPI_INT, WORLD, request);
}
static void ialltoallv(void) {
  MPI_Ialltoallv(out, counts, begins, MPI_INT, in, counts, begins, MPI_INT, WORLD, request);
}
static void ireduce_scatter(void) {
  MPI_Ireduce_scatter(out, in, counts, MPI_INT, MPI_SUM, WORLD, request);
}
static void ireduce_scatter_block(void) {
  MPI_Ireduce_scatter_block(out, in, count, MPI_INT, MPI_SUM, WORLD, request);
}
static void iscan(void) { MPI_Iscan(out, in, count, MPI_INT, MPI_SUM, WORLD, request); }
static void iexscan(void) { MPI_Iexscan(out, in, count, MPI_INT, MPI_SUM, WORLD, request); }

static MPI_Comm near;
enum { MOST_NEIGHBOURS = 16 };
static MPI_Aint offsets[MOST_NEIGHBOURS];
static MPI_Datatype types[MOST_NEIGHBOURS];
#define NEIGHBOURS(name, ...)                                                   \
  static void neighbor_##name(void) { MPI_Neighbor_##name(__VA_ARGS__, near); } \
  static void ineighbor_##name(void) { MPI_Ineighbor_##name(__VA_ARGS__, near, request); }
NEIGHBOURS(allgather, out, count, MPI_INT, in, count, MPI_INT)
NEIGHBOURS(allgatherv, out, count, MPI_INT, in, counts, begins, MPI_INT)
NEIGHBOURS(alltoall, out, count, MPI_INT, in, count, MPI_INT)
NEIGHBOURS(alltoallv, out, counts, begins, MPI_INT, in, counts, begins, MPI_INT)
NEIGHBOURS(alltoallw, out, counts, offsets, types, in, counts, offsets, types)

static const struct {
  const char* name;
  void (*run)(void);
} among_neighbours[] = {{"neighbor_allgather", neighbor_allgather},
                        {"neighbor_allgatherv", neighbor_allgatherv},
                        {"neighbor_alltoall", neighbor_alltoall},
                        {"neighbor_alltoallv", neighbor_alltoallv},
                        {"neighbor_alltoallw", neighbor_alltoallw}};

// "ring_…", "grid_…" or "graph_…"; what follows.
static const char* with_neighbours(const char* name) {
  int dims[2] = {size, 1}, periodic[2] = {1, 0}, to[2] = {(rank + 1) % size, 0},
      from[MOST_NEIGHBOURS], weights[MOST_NEIGHBOURS] = {0}, degree = 0;
  if (strncmp(name, "ring_", 5) == 0) {
    MPI_Cart_create(WORLD, 1, dims, periodic, 0, &near);
    return name + 5;
  }
  if (strncmp(name, "grid_", 5) == 0) {
    memset(dims, 0, sizeof dims);
    MPI_Dims_create(size, 2, dims);
    periodic[0] = 0;
    MPI_Cart_create(WORLD, 2, dims, periodic, 0, &near);
    return name + 5;
  }
  if (strncmp(name, "graph_", 6) != 0) return name;
  for (int i = 0; i < size; i++) {
    if (rank == 0 || (i + 1) % size == rank) from[degree++] = i;
    if (rank == 0 && (i + 1) % size == 0) from[degree++] = i;
  }
  MPI_Dist_graph_create_adjacent(WORLD, degree, from, weights, 2, to, weights, MPI_INFO_NULL, 0,
                                 &near);
  return name + 6;
}

static const struct {
  const char* name;
  void (*start)(void);
} non_blocking[] = {{"ineighbor_allgather", ineighbor_allgather},
                    {"ineighbor_allgatherv", ineighbor_allgatherv},
                    {"ineighbor_alltoall", ineighbor_alltoall},
                    {"ineighbor_alltoallv", ineighbor_alltoallv},
                    {"ineighbor_alltoallw", ineighbor_alltoallw},
                    {"ibarrier", ibarrier},
                    {"ibcast", ibcast},
                    {"ireduce", ireduce},
                    {"iallreduce", iallreduce},
                    {"igather", igather},
                    {"iscatter", iscatter},
                    {"iallgather", iallgather},
                    {"iallgatherv", iallgatherv},
                    {"ialltoall", ialltoall},
                    {"ialltoallv", ialltoallv},
                    {"ireduce_scatter", ireduce_scatter},
                    {"ireduce_scatter_block", ireduce_scatter_block},
                    {"iscan", iscan},
                    {"iexscan", iexscan}};

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
  const int blocks = size > MOST_NEIGHBOURS ? size : MOST_NEIGHBOURS;
  out = calloc((size_t)count * blocks, sizeof(int));
  in = calloc((size_t)count * blocks * TIMES, sizeof(int));
  counts = malloc(sizeof(int) * blocks);
  begins = malloc(sizeof(int) * blocks);
  for (int i = 0; i < blocks; i++) counts[i] = count, begins[i] = i * count;
  for (int i = 0; i < MOST_NEIGHBOURS; i++)
    offsets[i] = (MPI_Aint)sizeof(int) * count * i, types[i] = MPI_INT;
  for (int i = 1; i < argc - 2; i++) {
    const char* name = with_neighbours(argv[i]);
    for (unsigned one = 0; one < sizeof cases / sizeof cases[0]; one++) {
      if (strcmp(cases[one].name, name) != 0) continue;
      for (int times = 0; times < TIMES; times++) cases[one].run();
    }
    for (unsigned one = 0; one < sizeof among_neighbours / sizeof among_neighbours[0]; one++) {
      if (strcmp(among_neighbours[one].name, name) != 0) continue;
      for (int times = 0; times < TIMES; times++) among_neighbours[one].run();
    }
    for (unsigned one = 0; one < sizeof non_blocking / sizeof non_blocking[0]; one++) {
      if (strcmp(non_blocking[one].name, name) == 0) together(non_blocking[one].start);
    }
  }
  MPI_Finalize();
  return 0;
}

// One collective, five times:  collectives OPERATION COUNT ROOT
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

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  count = atoi(argv[argc - 2]);
  root = atoi(argv[argc - 1]) % size;
  out = calloc((size_t)count * size, sizeof(int));
  in = calloc((size_t)count * size, sizeof(int));
  counts = malloc(sizeof(int) * size);
  begins = malloc(sizeof(int) * size);
  for (int i = 0; i < size; i++) counts[i] = count, begins[i] = i * count;
  for (int i = 1; i < argc - 2; i++) {
    for (unsigned one = 0; one < sizeof cases / sizeof cases[0]; one++) {
      if (strcmp(cases[one].name, argv[i]) != 0) continue;
      for (int times = 0; times < 5; times++) cases[one].run();
    }
  }
  MPI_Finalize();
  return 0;
}

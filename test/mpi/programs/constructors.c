// SPDX-License-Identifier: BSD-3-Clause
// Every constructor of a communicator inside one world, with point-to-point messages on the result:
// messages are credited to the right processes and to the communicator of the right constructor.
#include "../expect.h"

// Each member sends (its place in the list of constructors + 1) * 10 bytes to its successor and 4
// bytes to the last member.
static int step = 0;
static void talk(MPI_Comm comm, const char* made_by) {
  if (comm == MPI_COMM_NULL) return;
  int rank, size, bytes = 10 * (step + 1);
  static char out[10000], in[10000];
  MPI_Status status;
  expect_label(comm, made_by);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  fill(out, (size_t)bytes, (unsigned)step);
  MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + 1) % size, 0, in, (int)sizeof in, MPI_BYTE,
               MPI_ANY_SOURCE, 0, comm, &status);
  require(status.MPI_SOURCE == (rank + size - 1) % size);
  verify(in, (size_t)bytes, (unsigned)step);
  expect_message(comm, (rank + 1) % size, bytes, 1);
  MPI_Request request;
  MPI_Isend(out, 4, MPI_BYTE, size - 1, 1, comm, &request);
  expect_message(comm, size - 1, 4, 1);
  for (int i = 0; rank == size - 1 && i < size; i++)
    MPI_Recv(in, 100, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void finish(MPI_Comm comm) {
  step++;
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  expect_may("library");
  MPI_Comm comm, other;
  MPI_Group world, group;
  MPI_Info info;
  MPI_Comm_group(MPI_COMM_WORLD, &world);

  talk(MPI_COMM_WORLD, "predefined");
  talk(MPI_COMM_SELF, "predefined");

  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "a named duplicate");
  talk(comm, "MPI_Comm_dup");
  expect_name(comm, "a named duplicate");
  finish(comm);

  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "false");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  talk(comm, "MPI_Comm_dup_with_info");
  finish(comm);
  MPI_Info_free(&info);

  // Reversed order; odd and even ranks apart; the last rank in none.
  MPI_Comm_split(MPI_COMM_WORLD, 0, world_size - world_rank, &comm);
  talk(comm, "MPI_Comm_split");
  finish(comm);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &comm);
  talk(comm, "MPI_Comm_split");
  // A communicator made from a communicator made from the world.
  MPI_Comm_split(comm, 0, world_rank, &other);
  talk(other, "MPI_Comm_split");
  finish(other);
  finish(comm);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank == world_size - 1 ? MPI_UNDEFINED : 7, 0, &comm);
  talk(comm, "MPI_Comm_split");
  finish(comm);

  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -world_rank, MPI_INFO_NULL, &comm);
  talk(comm, "MPI_Comm_split_type");
  finish(comm);

  int ranks[2] = {world_size - 1, 1};
  MPI_Group_incl(world, 2, ranks, &group);
  MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
  talk(comm, "MPI_Comm_create");
  finish(comm);
  if (world_rank == ranks[0] || world_rank == ranks[1]) {
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 55, &comm);
    talk(comm, "MPI_Comm_create_group");
  } else {
    comm = MPI_COMM_NULL;
  }
  finish(comm);
  MPI_Group_free(&group);

  int dims[2] = {0, 0}, periods[2] = {1, 0}, remain[2] = {0, 1};
  MPI_Dims_create(world_size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &comm);
  talk(comm, "MPI_Cart_create");
  MPI_Cart_sub(comm, remain, &other);
  talk(other, "MPI_Cart_sub");
  finish(other);
  finish(comm);

  // A ring as a graph, over all but the last rank.
  int nodes = world_size - 1, *index = malloc(sizeof(int) * (size_t)world_size),
      *edges = malloc(sizeof(int) * 2 * (size_t)world_size);
  for (int i = 0; i < nodes; i++) {
    index[i] = 2 * (i + 1);
    edges[2 * i] = (i + 1) % nodes;
    edges[2 * i + 1] = (i + nodes - 1) % nodes;
  }
  MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 1, &comm);
  talk(comm, "MPI_Graph_create");
  finish(comm);
  free(index);
  free(edges);

  int source = world_rank, degree = 1, destination = (world_rank + 1) % world_size,
      from = (world_rank + world_size - 1) % world_size;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &degree, &destination, MPI_UNWEIGHTED,
                        MPI_INFO_NULL, 0, &comm);
  talk(comm, "MPI_Dist_graph_create");
  finish(comm);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &destination,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  talk(comm, "MPI_Dist_graph_create_adjacent");
  finish(comm);
  MPI_Group_free(&world);
  report_ok("constructors");
  MPI_Finalize();
  return 0;
}

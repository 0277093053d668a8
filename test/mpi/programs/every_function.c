// SPDX-License-Identifier: BSD-3-Clause
/* Calls every function of MPI that Open MPI declares at least once, validly, on two ranks, and prints what
 * can be checked. test/mpi/traced_calls.py looks for them in the trace.
 *
 * usage: every_function [thread|abort|child|alone]
 *   thread: begins with MPI_Init_thread; abort: ends with MPI_Abort; alone: without functions that need other jobs
 *
 * With LARGE, it calls the forms for large counts: traced_calls.py then makes MPI_Send a macro for MPI_Send_c, and
 * so for each function that has one.
 */
#include <mpi.h>
#ifndef OMPI_MAJOR_VERSION /* the header of the standard ABI, which only Open MPI 6 has */
#define OMPI_MAJOR_VERSION 6
#define STANDARD_ABI
#endif
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h> /* after mpi.h */
#endif

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define W MPI_COMM_WORLD
#define ANY MPI_STATUS_IGNORE
enum { N = 16 };
#ifdef LARGE
typedef MPI_Count Count;
typedef MPI_Aint Displacement;
typedef MPI_Count Place; /* in a datatype */
#define CONVERSION_NULL MPI_CONVERSION_FN_NULL_C
#else
typedef int Count;
typedef int Displacement;
typedef MPI_Aint Place;
#define CONVERSION_NULL MPI_CONVERSION_FN_NULL
#endif
#if OMPI_MAJOR_VERSION < 5
#define INIT(name) MPIX_##name##_init
#else
#define INIT(name) MPI_##name##_init
#endif
static int rank, other, checks;
static int in[4 * N], out[4 * N];

static void check(int fine, const char *what) {
  ++checks;
  if (!fine) {
    printf("rank %d: %s\n", rank, what);
    fflush(stdout);
  }
}

static void fill(void) {
  for (int i = 0; i < 4 * N; ++i) out[i] = 100 * rank + i, in[i] = -1;
}

static void sends(void) {
  static char buffer[4096];
  MPI_Request r[8];
  MPI_Status s[8];
  fill();
  MPI_Buffer_attach(buffer, sizeof buffer);
  for (int i = 0; i < 8; ++i) MPI_Irecv(in + i, 1, MPI_INT, other, i, W, r + i);
  MPI_Barrier(W);
  MPI_Send(out, 1, MPI_INT, other, 0, W);
  MPI_Bsend(out + 1, 1, MPI_INT, other, 1, W);
  MPI_Rsend(out + 2, 1, MPI_INT, other, 2, W);
  MPI_Request q[8];
  MPI_Issend(out + 3, 1, MPI_INT, other, 3, W, q);
  MPI_Isend(out + 4, 1, MPI_INT, other, 4, W, q + 1);
  MPI_Ibsend(out + 5, 1, MPI_INT, other, 5, W, q + 2);
  MPI_Irsend(out + 6, 1, MPI_INT, other, 6, W, q + 3);
  if (rank == 0) MPI_Ssend(out + 7, 1, MPI_INT, other, 7, W);
  MPI_Waitall(7, r, s);
  if (rank == 1) MPI_Wait(r + 7, ANY);
  if (rank == 1) MPI_Ssend(out + 7, 1, MPI_INT, other, 7, W);
  MPI_Wait(r + 7, ANY);
  MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 8; ++i) check(in[i] == 100 * other + i, "a message");
  Count count = 0;
  int flag = 0;
  MPI_Count long_count = 0;
  MPI_Get_count(s, MPI_INT, &count);
  MPI_Get_elements(s, MPI_INT, &count);
  MPI_Get_elements_x(s, MPI_INT, &long_count);
  MPI_Test_cancelled(s, &flag);
  check(count == 1 && long_count == 1 && !flag, "a status");

  MPI_Recv_init(in, 1, MPI_INT, other, 1, W, r);
  MPI_Recv_init(in + 1, 1, MPI_INT, other, 2, W, r + 1);
  MPI_Recv_init(in + 2, 1, MPI_INT, other, 3, W, r + 2);
  MPI_Recv_init(in + 3, 1, MPI_INT, other, 4, W, r + 3);
  MPI_Startall(4, r);
  MPI_Barrier(W);
  MPI_Send_init(out, 1, MPI_INT, other, 1, W, r + 4);
  MPI_Bsend_init(out + 1, 1, MPI_INT, other, 2, W, r + 5);
  MPI_Ssend_init(out + 2, 1, MPI_INT, other, 3, W, r + 6);
  MPI_Rsend_init(out + 3, 1, MPI_INT, other, 4, W, r + 7);
  for (int i = 4; i < 8; ++i) MPI_Start(r + i);
  MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 8; ++i) MPI_Request_free(r + i);
  void *detached = NULL;
  Count size = 0;
  MPI_Buffer_detach(&detached, &size);
  check(in[3] == 100 * other + 3 && detached == buffer, "persistent messages");

  MPI_Sendrecv(out, 1, MPI_INT, other, 9, in, 1, MPI_INT, other, 9, W, ANY);
  MPI_Sendrecv_replace(in, 1, MPI_INT, other, 9, other, 9, W, ANY);
  check(in[0] == out[0], "there and back");
  if (rank == 0) {
    MPI_Recv(in, 1, MPI_INT, 1, 10, W, ANY);
  } else {
    MPI_Send(out, 1, MPI_INT, 0, 10, W);
  }
}

static void probes(void) {
  MPI_Message message;
  MPI_Request r;
  int flag = 0;
  for (int i = 0; i < 4; ++i)
    MPI_Isend(out, 1, MPI_INT, other, 20 + i, W, &r), MPI_Request_free(&r);
  MPI_Probe(other, 20, W, ANY);
  MPI_Recv(in, 1, MPI_INT, other, 20, W, ANY);
  while (!flag) MPI_Iprobe(other, 21, W, &flag, ANY);
  MPI_Recv(in, 1, MPI_INT, other, 21, W, ANY);
  MPI_Mprobe(other, 22, W, &message, ANY);
  MPI_Mrecv(in, 1, MPI_INT, &message, ANY);
  for (flag = 0; !flag;) MPI_Improbe(other, 23, W, &flag, &message, ANY);
  MPI_Imrecv(in, 1, MPI_INT, &message, &r);
  MPI_Wait(&r, ANY);
}

static int query(void *state, MPI_Status *status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_INT, 1);
  MPI_Status_set_elements_x(status, MPI_INT, 1);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int freed(void *state) { return (void)state, MPI_SUCCESS; }
static int cancelled(void *state, int complete) { return (void)state, (void)complete, MPI_SUCCESS; }

static void completions(void) {
  MPI_Request r[3], q;
  MPI_Status s[3];
  int flag, index, indices[3], count;
  const int rounds = 6;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 3; ++i) MPI_Irecv(in + i, 1, MPI_INT, other, 30 + i, W, r + i);
    for (int i = 0; i < 3; ++i) MPI_Send(out + i, 1, MPI_INT, other, 30 + i, W);
    int left = 3;
    flag = 0;
    if (round == 0)
      while (left > 0) MPI_Waitany(3, r, &index, s), --left;
    if (round == 1)
      while (left > 0) MPI_Waitsome(3, r, &count, indices, s), left -= count;
    if (round == 2)
      while (left > 0) MPI_Testany(3, r, &index, &flag, s), left -= flag;
    if (round == 3)
      while (left > 0) MPI_Testsome(3, r, &count, indices, s), left -= count;
    if (round == 4)
      while (!flag) MPI_Testall(3, r, &flag, s);
    if (round == 5) {
      while (!flag) MPI_Request_get_status(r[0], &flag, s);
      for (int i = 0; i < 3; ++i)
        for (flag = 0; !flag;) MPI_Test(r + i, &flag, s);
    }
    check(in[2] == out[2] - 100 * rank + 100 * other, "a completion");
  }
  MPI_Irecv(in, 1, MPI_INT, other, 99, W, &q);
  MPI_Cancel(&q);
  MPI_Wait(&q, s);
  MPI_Test_cancelled(s, &flag);
  check(flag, "a cancelled receive");
  MPI_Grequest_start(query, freed, cancelled, NULL, &q);
  MPI_Grequest_complete(q);
  MPI_Wait(&q, s);
}

enum { BLOCKING, NONBLOCKING, PERSISTENT };
static MPI_Request pending;
static void end(int form) {
  if (form == BLOCKING) return;
  if (form == PERSISTENT) MPI_Start(&pending);
  MPI_Wait(&pending, ANY);
  if (form == PERSISTENT) MPI_Request_free(&pending);
}
/* One collective in its three forms. */
#define FORMS(Blocking, Nonblocking, Persistent, ...)                               \
  do {                                                                              \
    if (form == BLOCKING) Blocking(__VA_ARGS__, comm);                              \
    if (form == NONBLOCKING) Nonblocking(__VA_ARGS__, comm, &pending);              \
    if (form == PERSISTENT) Persistent(__VA_ARGS__, comm, MPI_INFO_NULL, &pending); \
    end(form);                                                                      \
  } while (0)

static void collectives(MPI_Comm comm) {
  const MPI_Datatype T = MPI_INT, types[2] = {MPI_INT, MPI_INT};
  const Count counts[2] = {1, 1};
  const Displacement displs[2] = {0, 1}, bytes[2] = {0, sizeof(int)};
  for (int form = BLOCKING; form <= PERSISTENT; ++form) {
    fill();
    FORMS(MPI_Allgather, MPI_Iallgather, INIT(Allgather), out, 1, T, in, 1, T);
    check(in[other] == 100 * other, "allgather");
    FORMS(MPI_Allgatherv, MPI_Iallgatherv, INIT(Allgatherv), out, 1, T, in, counts, displs, T);
    FORMS(MPI_Allreduce, MPI_Iallreduce, INIT(Allreduce), out, in, 2, T, MPI_SUM);
    check(in[0] == 100, "allreduce");
    FORMS(MPI_Alltoall, MPI_Ialltoall, INIT(Alltoall), out, 1, T, in, 1, T);
    FORMS(MPI_Alltoallv, MPI_Ialltoallv, INIT(Alltoallv), out, counts, displs, T, in, counts,
          displs, T);
    FORMS(MPI_Alltoallw, MPI_Ialltoallw, INIT(Alltoallw), out, counts, bytes, types, in, counts,
          bytes, types);
    check(in[other] == 100 * other + rank, "alltoall");
    FORMS(MPI_Bcast, MPI_Ibcast, INIT(Bcast), in, 3, T, 1);
    FORMS(MPI_Exscan, MPI_Iexscan, INIT(Exscan), out, in, 1, T, MPI_SUM);
    FORMS(MPI_Scan, MPI_Iscan, INIT(Scan), out, in, 1, T, MPI_SUM);
    FORMS(MPI_Gather, MPI_Igather, INIT(Gather), out, 1, T, in, 1, T, 0);
    FORMS(MPI_Gatherv, MPI_Igatherv, INIT(Gatherv), out, 1, T, in, counts, displs, T, 0);
    FORMS(MPI_Reduce, MPI_Ireduce, INIT(Reduce), out, in, 2, T, MPI_SUM, 0);
    FORMS(MPI_Reduce_scatter, MPI_Ireduce_scatter, INIT(Reduce_scatter), out, in, counts, T,
          MPI_SUM);
    FORMS(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, INIT(Reduce_scatter_block), out, in,
          1, T, MPI_SUM);
    FORMS(MPI_Scatter, MPI_Iscatter, INIT(Scatter), out, 1, T, in, 1, T, 0);
    FORMS(MPI_Scatterv, MPI_Iscatterv, INIT(Scatterv), out, counts, displs, T, in, 1, T, 0);
    check(in[0] == rank, "scatterv");
  }
  MPI_Barrier(comm);
  MPI_Ibarrier(comm, &pending), end(NONBLOCKING);
  INIT(Barrier)(comm, MPI_INFO_NULL, &pending), end(PERSISTENT);
  MPI_Reduce_local(out, in, 1, MPI_INT, MPI_SUM);
}

static void neighbours(MPI_Comm comm) { /* one neighbour in, one out */
  const MPI_Datatype T = MPI_INT, types[1] = {MPI_INT};
  const Count counts[1] = {1};
  const Displacement displs[1] = {0};
  const MPI_Aint bytes[1] = {0};
  for (int form = BLOCKING; form <= PERSISTENT; ++form) {
    fill();
    FORMS(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, INIT(Neighbor_allgather), out, 1, T, in,
          1, T);
    FORMS(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, INIT(Neighbor_allgatherv), out, 1, T,
          in, counts, displs, T);
    FORMS(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, INIT(Neighbor_alltoall), out, 1, T, in, 1,
          T);
    FORMS(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, INIT(Neighbor_alltoallv), out, counts,
          displs, T, in, counts, displs, T);
    FORMS(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, INIT(Neighbor_alltoallw), out, counts,
          bytes, types, in, counts, bytes, types);
    check(in[0] == 100 * other, "a neighbour");
  }
}

static void topologies(void) {
  MPI_Comm cart, sub, graph, dist, adjacent;
  int dims[2] = {0, 1}, periods[2] = {0, 0}, coords[2], a, b, c, keep[2] = {1, 0}, values[8],
      more[8];
  const int one = 1, index[2] = {1, 2}, edges[2] = {1, 0};
  MPI_Dims_create(2, 2, dims);
  MPI_Cart_create(W, 2, dims, periods, 0, &cart);
  MPI_Topo_test(cart, &a);
  MPI_Cartdim_get(cart, &b);
  check(a == MPI_CART && b == 2, "a grid");
  MPI_Cart_get(cart, 2, dims, periods, coords);
  MPI_Cart_rank(cart, coords, &a);
  MPI_Cart_coords(cart, rank, 2, coords);
  MPI_Cart_shift(cart, 0, 1, &a, &b);
  MPI_Cart_map(W, 2, dims, periods, &a);
  MPI_Cart_sub(cart, keep, &sub);
  MPI_Graph_create(W, 2, index, edges, 0, &graph);
  MPI_Graphdims_get(graph, &a, &b);
  MPI_Graph_get(graph, 2, 2, values, more);
  MPI_Graph_neighbors_count(graph, rank, &a);
  MPI_Graph_neighbors(graph, rank, 1, values);
  MPI_Graph_map(W, 2, index, edges, &b);
  check(a == 1 && values[0] == other, "a graph");
  MPI_Dist_graph_create(W, 1, &rank, &one, &other, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &dist);
  MPI_Dist_graph_create_adjacent(W, 1, &other, MPI_UNWEIGHTED, 1, &other, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &adjacent);
  MPI_Dist_graph_neighbors_count(adjacent, &a, &b, &c);
  MPI_Dist_graph_neighbors(adjacent, 1, values, MPI_UNWEIGHTED, 1, more, MPI_UNWEIGHTED);
  check(a == 1 && b == 1 && values[0] == other && more[0] == other, "neighbours");
  neighbours(adjacent);
  MPI_Comm_free(&cart), MPI_Comm_free(&sub), MPI_Comm_free(&graph), MPI_Comm_free(&dist),
      MPI_Comm_free(&adjacent);
}

static void groups(void) {
  MPI_Group world, g, h, k;
  int ranks[2] = {0, 1}, range[1][3] = {{0, 1, 1}}, there[2], a, result;
  MPI_Comm_group(W, &world);
  MPI_Group_size(world, &a);
  MPI_Group_rank(world, &a);
  MPI_Group_incl(world, 1, ranks, &g);
  MPI_Group_excl(world, 1, ranks, &h);
  MPI_Group_union(g, h, &k);
  MPI_Group_compare(world, k, &result);
  check(a == rank && result == MPI_IDENT, "a union");
  MPI_Group_free(&k), MPI_Group_intersection(world, g, &k);
  MPI_Group_free(&k), MPI_Group_difference(world, g, &k);
  MPI_Group_free(&k), MPI_Group_range_incl(world, 1, range, &k);
  MPI_Group_free(&k), MPI_Group_range_excl(world, 1, range, &k);
  if (k != MPI_GROUP_EMPTY) MPI_Group_free(&k);
  MPI_Group_translate_ranks(world, 2, ranks, world, there);
  check(there[1] == 1, "translated ranks");
  MPI_Comm comm;
  MPI_Comm_create(W, world, &comm), MPI_Comm_free(&comm);
  MPI_Comm_create_group(W, world, 5, &comm), MPI_Comm_free(&comm);
  MPI_Group_free(&g), MPI_Group_free(&h), MPI_Group_free(&world);
}

static void on_comm(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }
static void on_win(MPI_Win *win, int *code, ...) { (void)win, (void)code; }
static void on_file(MPI_File *file, int *code, ...) { (void)file, (void)code; }

static void communicators(void) {
  MPI_Comm comm, more, inter, merged;
  MPI_Group group;
  MPI_Info info;
  MPI_Errhandler handler;
  MPI_Request r;
  char name[MPI_MAX_OBJECT_NAME];
  int key, old_key, flag, a, value = 7, *found = NULL;
  MPI_Comm_dup(W, &comm);
  MPI_Comm_dup_with_info(W, MPI_INFO_NULL, &more), MPI_Comm_free(&more);
  MPI_Comm_idup(W, &more, &r), MPI_Wait(&r, ANY), MPI_Comm_free(&more);
  MPI_Comm_split(W, 0, rank, &more), MPI_Comm_free(&more);
  MPI_Comm_split_type(W, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &more), MPI_Comm_free(&more);
  MPI_Comm_compare(W, comm, &a);
  check(a == MPI_CONGRUENT, "a duplicate");
  MPI_Comm_set_name(comm, "a copy");
  MPI_Comm_get_name(comm, name, &a);
  check(strcmp(name, "a copy") == 0, "a name");
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(comm, key, &value);
  MPI_Comm_get_attr(comm, key, &found, &flag);
  check(flag && *found == 7, "an attribute");
  MPI_Comm_delete_attr(comm, key);
  MPI_Comm_free_keyval(&key);
#ifndef STANDARD_ABI
  MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &old_key, NULL);
  MPI_Attr_put(comm, old_key, &value);
  MPI_Attr_get(comm, old_key, &found, &flag);
  MPI_Attr_delete(comm, old_key);
  MPI_Keyval_free(&old_key);
#endif
  MPI_Comm_create_errhandler(on_comm, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  MPI_Errhandler_free(&handler);
  MPI_Comm_get_errhandler(comm, &handler);
  MPI_Errhandler_free(&handler);
  MPI_Info_create(&info);
  MPI_Comm_set_info(comm, info);
  MPI_Info_free(&info);
  MPI_Comm_get_info(comm, &info);
  MPI_Info_free(&info);
  MPI_Comm self;
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  MPI_Intercomm_create(self, 0, W, other, 3, &inter);
  MPI_Comm_test_inter(inter, &flag);
  MPI_Comm_remote_size(inter, &a);
  check(flag && a == 1, "an intercommunicator");
  MPI_Comm_remote_group(inter, &group), MPI_Group_free(&group);
  MPI_Intercomm_merge(inter, rank, &merged);
  MPI_Comm_size(merged, &a);
  check(a == 2, "a merged communicator");
  MPI_Comm_free(&merged), MPI_Comm_free(&inter), MPI_Comm_free(&self), MPI_Comm_free(&comm);
}

static void datatypes(void) {
  MPI_Datatype t, u;
  const Count blocks[2] = {1, 1}, displs[2] = {0, 2}, sizes[1] = {8}, parts[1] = {2},
              starts[1] = {0};
  const int distribs[1] = {MPI_DISTRIBUTE_BLOCK}, dargs[1] = {MPI_DISTRIBUTE_DFLT_DARG},
            psizes[1] = {2};
  const Place places[2] = {0, 8};
  const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI_Aint address;
  Place lb, extent;
  MPI_Count lb_x, extent_x, size_x;
  Count size, position;
  int a, b, c, d, key, flag, value = 3, *found = NULL, integers[8];
  MPI_Aint addresses[8];
  MPI_Datatype inside[8];
  char name[MPI_MAX_OBJECT_NAME], packed[256];
  MPI_Type_contiguous(2, MPI_INT, &t);
  MPI_Type_commit(&t);
  MPI_Type_size(t, &size);
  MPI_Type_size_x(t, &size_x);
  MPI_Type_get_extent(t, &lb, &extent);
  MPI_Type_get_extent_x(t, &lb_x, &extent_x);
  MPI_Type_get_true_extent(t, &lb, &extent);
  MPI_Type_get_true_extent_x(t, &lb_x, &extent_x);
  check(size == 8 && size_x == 8 && extent == 8 && extent_x == 8, "a datatype");
  MPI_Type_set_name(t, "pair");
  MPI_Type_get_name(t, name, &a);
#ifndef LARGE /* since_6() has those forms, which return more */
  MPI_Type_get_envelope(t, &a, &b, &c, &d);
  MPI_Type_get_contents(t, a, b, c, integers, addresses, inside);
  check(d == MPI_COMBINER_CONTIGUOUS && integers[0] == 2, "an envelope");
#endif
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
  MPI_Type_set_attr(t, key, &value);
  MPI_Type_get_attr(t, key, &found, &flag);
  MPI_Type_delete_attr(t, key);
  MPI_Type_free_keyval(&key);
  MPI_Type_dup(t, &u), MPI_Type_free(&u);
  MPI_Type_create_resized(t, 0, 16, &u), MPI_Type_free(&u);
  MPI_Type_vector(2, 1, 2, MPI_INT, &u), MPI_Type_free(&u);
  MPI_Type_create_hvector(2, 1, 8, MPI_INT, &u), MPI_Type_free(&u);
  MPI_Type_indexed(2, blocks, displs, MPI_INT, &u), MPI_Type_free(&u);
  MPI_Type_create_hindexed(2, blocks, places, MPI_INT, &u), MPI_Type_free(&u);
  MPI_Type_create_indexed_block(2, 1, displs, MPI_INT, &u), MPI_Type_free(&u);
  MPI_Type_create_hindexed_block(2, 1, places, MPI_INT, &u), MPI_Type_free(&u);
  MPI_Type_create_struct(2, blocks, places, types, &u), MPI_Type_free(&u);
  MPI_Type_create_subarray(1, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &u), MPI_Type_free(&u);
  MPI_Type_create_darray(2, rank, 1, sizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_INT, &u),
      MPI_Type_free(&u);
  MPI_Type_create_f90_integer(5, &u);
  MPI_Type_create_f90_real(5, MPI_UNDEFINED, &u);
  MPI_Type_create_f90_complex(5, MPI_UNDEFINED, &u);
  MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &u);
  MPI_Get_address(&value, &address);
  position = 0;
  MPI_Pack_size(1, t, W, &size);
  MPI_Pack(out, 1, t, packed, sizeof packed, &position, W);
  position = 0;
  MPI_Unpack(packed, sizeof packed, &position, in, 1, t, W);
  check(in[1] == out[1], "packed");
  Place at = 0;
  MPI_Pack_external_size("external32", 1, t, &extent);
  MPI_Pack_external("external32", out, 1, t, packed, sizeof packed, &at);
  at = 0;
  MPI_Unpack_external("external32", packed, sizeof packed, &at, in, 1, t);
  MPI_Type_free(&t);
}

static void windows(void) {
  MPI_Win win, more;
  MPI_Group world, group;
  MPI_Info info;
  MPI_Errhandler handler;
  MPI_Request r;
  static int memory[N];
  int key, flag, a, value = 1, *found = NULL, *base;
  Displacement unit;
  MPI_Aint size;
  char name[MPI_MAX_OBJECT_NAME];
  const MPI_Datatype T = MPI_INT;
  fill();
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, W, &win);
  MPI_Win_set_name(win, "memory"), MPI_Win_get_name(win, name, &a);
  check(strcmp(name, "memory") == 0, "a window's name");
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
  MPI_Win_set_attr(win, key, &value), MPI_Win_get_attr(win, key, &found, &flag),
      MPI_Win_delete_attr(win, key);
  MPI_Win_free_keyval(&key);
  MPI_Win_create_errhandler(on_win, &handler);
  MPI_Win_set_errhandler(win, handler), MPI_Win_call_errhandler(win, MPI_ERR_OTHER),
      MPI_Errhandler_free(&handler);
  MPI_Win_get_errhandler(win, &handler), MPI_Errhandler_free(&handler);
  MPI_Info_create(&info), MPI_Win_set_info(win, info), MPI_Info_free(&info);
  MPI_Win_get_info(win, &info), MPI_Info_free(&info);
  MPI_Win_get_group(win, &world);
  MPI_Win_fence(0, win);
  MPI_Put(out, 1, T, other, 0, 1, T, win);
  MPI_Accumulate(out, 1, T, other, 1, 1, T, MPI_SUM, win);
  MPI_Win_fence(0, win);
  check(memory[0] == 100 * other, "put");
  MPI_Get(in, 1, T, other, 0, 1, T, win);
  MPI_Win_fence(0, win);
  check(in[0] == 100 * rank, "get");
  MPI_Group_incl(world, 1, &other, &group);
  MPI_Win_post(group, 0, win), MPI_Win_start(group, 0, win);
  MPI_Put(out, 1, T, other, 2, 1, T, win);
  MPI_Win_complete(win), MPI_Win_wait(win);
  MPI_Win_post(group, 0, win), MPI_Win_start(group, 0, win), MPI_Win_complete(win);
  for (flag = 0; !flag;) MPI_Win_test(win, &flag);
  MPI_Group_free(&group), MPI_Group_free(&world);
  MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win), MPI_Win_unlock(other, win);
  MPI_Win_lock_all(0, win);
  MPI_Rput(out, 1, T, other, 3, 1, T, win, &r), MPI_Wait(&r, ANY);
  MPI_Rget(in, 1, T, other, 3, 1, T, win, &r), MPI_Wait(&r, ANY);
  MPI_Raccumulate(out, 1, T, other, 4, 1, T, MPI_SUM, win, &r), MPI_Wait(&r, ANY);
  MPI_Get_accumulate(out, 1, T, in, 1, T, other, 5, 1, T, MPI_SUM, win);
  MPI_Rget_accumulate(out, 1, T, in, 1, T, other, 6, 1, T, MPI_NO_OP, win, &r), MPI_Wait(&r, ANY);
  MPI_Fetch_and_op(out, in, T, other, 7, MPI_SUM, win);
  MPI_Compare_and_swap(out, out + 1, in, T, other, 8, win);
  MPI_Win_flush(other, win), MPI_Win_flush_all(win), MPI_Win_flush_local(other, win),
      MPI_Win_flush_local_all(win);
  MPI_Win_sync(win);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, W, &base, &more), MPI_Win_free(&more);
  MPI_Win_allocate_shared(sizeof(int), 1, MPI_INFO_NULL, W, &base, &more);
  MPI_Win_shared_query(more, other, &size, &unit, &base);
  check(size == sizeof(int), "shared memory");
  MPI_Win_free(&more);
  MPI_Win_create_dynamic(MPI_INFO_NULL, W, &more);
  MPI_Win_attach(more, memory, sizeof memory), MPI_Win_detach(more, memory);
  MPI_Win_free(&more);
}

static void files(void) {
  char path[4096], datarep[MPI_MAX_DATAREP_STRING];
  const char *folder = getenv("TEST_SCRATCH");
  MPI_File f;
  MPI_Offset at, size;
  MPI_Info info;
  MPI_Group group;
  MPI_Errhandler handler;
  MPI_Datatype etype, filetype;
  Place extent;
  MPI_Request r;
  int a;
  const MPI_Datatype T = MPI_INT;
  const MPI_Offset mine = rank * (MPI_Offset)sizeof(int) * N;
  snprintf(path, sizeof path, "%s/every_function.data", folder == NULL ? "." : folder);
  fill();
  MPI_File_open(W, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
  MPI_File_set_size(f, 0), MPI_File_preallocate(f, 8 * N * sizeof(int)),
      MPI_File_get_size(f, &size);
  MPI_File_get_amode(f, &a), MPI_File_get_group(f, &group), MPI_Group_free(&group);
  MPI_File_get_info(f, &info), MPI_File_set_info(f, info), MPI_Info_free(&info);
  MPI_File_create_errhandler(on_file, &handler), MPI_File_set_errhandler(f, handler);
  MPI_File_call_errhandler(f, MPI_ERR_OTHER), MPI_Errhandler_free(&handler);
  MPI_File_get_errhandler(f, &handler), MPI_Errhandler_free(&handler);
  MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  MPI_File_get_view(f, &at, &etype, &filetype, datarep);
  MPI_File_get_byte_offset(f, 4, &at), MPI_File_get_type_extent(f, T, &extent);
  MPI_File_set_atomicity(f, 0), MPI_File_get_atomicity(f, &a);
  MPI_File_write_at(f, mine, out, 1, T, ANY), MPI_File_write_at_all(f, mine, out, 2, T, ANY);
  MPI_File_iwrite_at(f, mine, out, 1, T, &r), MPI_Wait(&r, ANY);
  MPI_File_iwrite_at_all(f, mine, out, 2, T, &r), MPI_Wait(&r, ANY);
  MPI_File_write_at_all_begin(f, mine, out, 2, T), MPI_File_write_at_all_end(f, out, ANY);
  MPI_File_sync(f);
  MPI_File_read_at(f, mine, in, 1, T, ANY), MPI_File_read_at_all(f, mine, in, 2, T, ANY);
  MPI_File_iread_at(f, mine, in, 1, T, &r), MPI_Wait(&r, ANY);
  MPI_File_iread_at_all(f, mine, in, 2, T, &r), MPI_Wait(&r, ANY);
  MPI_File_read_at_all_begin(f, mine, in, 2, T), MPI_File_read_at_all_end(f, in, ANY);
  check(in[1] == out[1], "read back");
  MPI_File_seek(f, mine, MPI_SEEK_SET), MPI_File_get_position(f, &at);
  check(at == mine, "a position");
  MPI_File_write(f, out, 1, T, ANY), MPI_File_write_all(f, out, 1, T, ANY);
  MPI_File_iwrite(f, out, 1, T, &r), MPI_Wait(&r, ANY);
  MPI_File_iwrite_all(f, out, 1, T, &r), MPI_Wait(&r, ANY);
  MPI_File_write_all_begin(f, out, 1, T), MPI_File_write_all_end(f, out, ANY);
  MPI_File_seek(f, mine, MPI_SEEK_SET);
  MPI_File_read(f, in, 1, T, ANY), MPI_File_read_all(f, in, 1, T, ANY);
  MPI_File_iread(f, in, 1, T, &r), MPI_Wait(&r, ANY);
  MPI_File_iread_all(f, in, 1, T, &r), MPI_Wait(&r, ANY);
  MPI_File_read_all_begin(f, in, 1, T), MPI_File_read_all_end(f, in, ANY);
  MPI_File_seek_shared(f, 0, MPI_SEEK_SET), MPI_File_get_position_shared(f, &at);
  MPI_File_write_shared(f, out, 1, T, ANY);
  MPI_File_iwrite_shared(f, out, 1, T, &r), MPI_Wait(&r, ANY);
  MPI_File_write_ordered(f, out, 1, T, ANY);
  MPI_File_write_ordered_begin(f, out, 1, T), MPI_File_write_ordered_end(f, out, ANY);
  MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
  MPI_File_read_shared(f, in, 1, T, ANY);
  MPI_File_iread_shared(f, in, 1, T, &r), MPI_Wait(&r, ANY);
  MPI_File_read_ordered(f, in, 1, T, ANY);
  MPI_File_read_ordered_begin(f, in, 1, T), MPI_File_read_ordered_end(f, in, ANY);
  MPI_File_close(&f);
  MPI_Barrier(W);
  if (rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
}

static void summed(void *from, void *to, Count *count, MPI_Datatype *type) {
  for (Count i = 0; i < *count; ++i) ((int *)to)[i] += ((int *)from)[i];
  (void)type;
}

static void environment(void) {
  MPI_Info info, copy;
  MPI_Op op;
  char text[MPI_MAX_LIBRARY_VERSION_STRING + MPI_MAX_ERROR_STRING], value[64];
  int a, b, flag, class, code;
  void *memory;
  MPI_Get_version(&a, &b), MPI_Get_library_version(text, &a), MPI_Get_processor_name(text, &a);
  MPI_Initialized(&flag), check(flag, "initialized");
  MPI_Finalized(&flag), check(!flag, "finalized");
  MPI_Query_thread(&a), MPI_Is_thread_main(&flag), check(flag, "the main thread");
  MPI_Alloc_mem(64, MPI_INFO_NULL, &memory), MPI_Free_mem(memory);
  MPI_Add_error_class(&class), MPI_Add_error_code(class, &code),
      MPI_Add_error_string(code, "an error");
  MPI_Error_class(code, &a), MPI_Error_string(code, text, &b);
  check(a == class && strcmp(text, "an error") == 0, "an error class");
  MPI_Info_create(&info), MPI_Info_set(info, "key", "value"),
      MPI_Info_get(info, "key", 63, value, &flag);
  check(flag && strcmp(value, "value") == 0, "an info");
  MPI_Info_get_valuelen(info, "key", &a, &flag), MPI_Info_get_nkeys(info, &a),
      MPI_Info_get_nthkey(info, 0, text);
  MPI_Info_dup(info, &copy), MPI_Info_delete(info, "key"), MPI_Info_free(&info),
      MPI_Info_free(&copy);
  MPI_Op_create(summed, 1, &op), MPI_Op_commutative(op, &flag);
  fill();
  MPI_Allreduce(out, in, 1, MPI_INT, op, W), check(in[0] == 100, "an operation of its own"),
      MPI_Op_free(&op);
  MPI_Pcontrol(1);
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent), check(parent == MPI_COMM_NULL, "no parent");
}

static void tools(void) {
  MPI_T_enum kind;
  MPI_T_cvar_handle cvar;
  MPI_T_pvar_handle pvar;
  MPI_T_pvar_session session;
  MPI_Datatype type;
  char name[256], text[256];
  int provided, count, index, a, b, c, d, e, f, number[64], length = 256, text_length = 256;
  unsigned long long value[64];
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_cvar_get_num(&count);
  for (index = 0; index < count; ++index) { /* one that is an enumeration */
    length = text_length = 256;
    if (MPI_T_cvar_get_info(index, name, &length, &a, &type, &kind, text, &text_length, &b, &c) !=
        MPI_SUCCESS)
      continue;
    if (kind != MPI_T_ENUM_NULL && type == MPI_INT && b == MPI_T_BIND_NO_OBJECT) break;
  }
  if (index < count) {
    length = text_length = 256;
    MPI_T_cvar_get_index(name, &a), check(a == index, "a control variable");
    MPI_T_enum_get_info(kind, &a, text, &text_length);
    text_length = 256;
    MPI_T_enum_get_item(kind, 0, &a, text, &text_length);
    MPI_T_cvar_handle_alloc(index, NULL, &cvar, &a);
    MPI_T_cvar_read(cvar, number), MPI_T_cvar_write(cvar, number);
    MPI_T_cvar_handle_free(&cvar);
  }
  MPI_T_category_get_num(&count), MPI_T_category_changed(&a);
  length = text_length = 256;
  MPI_T_category_get_info(0, name, &length, text, &text_length, &a, &b, &c);
  MPI_T_category_get_index(name, &a);
  MPI_T_category_get_cvars(0, 64, number), MPI_T_category_get_pvars(0, 64, number);
  MPI_T_category_get_categories(0, 64, number);
  MPI_T_pvar_get_num(&count);
  MPI_T_pvar_session_create(&session);
  for (index = 0; index < count; ++index) {
    length = text_length = 256;
    if (MPI_T_pvar_get_info(index, name, &length, &a, &b, &type, &kind, text, &text_length, &c, &d,
                            &e, &f) == MPI_SUCCESS &&
        c == MPI_T_BIND_NO_OBJECT) {
      break;
    }
  }
  /* Where the library has no variable of its own, these refuse the arguments, which is an answer too. */
  MPI_T_pvar_get_index(name, b, &a);
  if (index < count && MPI_T_pvar_handle_alloc(session, index, NULL, &pvar, &a) == MPI_SUCCESS) {
    MPI_T_pvar_start(session, pvar), MPI_T_pvar_read(session, pvar, value),
        MPI_T_pvar_write(session, pvar, value);
    MPI_T_pvar_reset(session, pvar), MPI_T_pvar_readreset(session, pvar, value),
        MPI_T_pvar_stop(session, pvar);
    MPI_T_pvar_handle_free(session, &pvar);
  }
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
}

#if OMPI_MAJOR_VERSION >= 5
static void on_session(MPI_Session *session, int *code, ...) { (void)session, (void)code; }

static void since_5(void) {
  MPI_Request r[2];
  MPI_Comm comm, inter;
  MPI_Info info;
  MPI_Group world, mine, theirs, failed;
  MPI_Session session;
  MPI_Errhandler handler;
  char name[MPI_MAX_PSET_NAME_LEN], value[64], *none[] = {NULL};
  int flag, a, length = sizeof value;
  const int list[1] = {2};
  fill();
  MPI_Isendrecv(out, 1, MPI_INT, other, 50, in, 1, MPI_INT, other, 50, W, r), MPI_Wait(r, ANY);
  check(in[0] == 100 * other, "both ways");
  MPI_Isendrecv_replace(in, 1, MPI_INT, other, 51, other, 51, W, r), MPI_Wait(r, ANY);
  check(in[0] == 100 * rank, "there and back without blocking");
  MPI_Psend_init(out, 3, 1, MPI_INT, other, 52, W, MPI_INFO_NULL, r);
  MPI_Precv_init(in, 3, 1, MPI_INT, other, 52, W, MPI_INFO_NULL, r + 1);
  MPI_Startall(2, r);
  MPI_Pready(0, r[0]), MPI_Pready_range(1, 1, r[0]), MPI_Pready_list(1, (int *)list, r[0]);
  for (flag = 0; !flag;) MPI_Parrived(r[1], 2, &flag);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  check(in[2] == 100 * other + 2, "partitions");
  MPI_Request_free(r), MPI_Request_free(r + 1);

  MPI_Comm_idup_with_info(W, MPI_INFO_NULL, &comm, r), MPI_Wait(r, ANY), MPI_Comm_free(&comm);
  MPI_Info_create_env(0, none, &info), MPI_Info_set(info, "key", "value");
  MPI_Info_get_string(info, "key", &length, value, &flag);
  check(flag && strcmp(value, "value") == 0, "a string of an info");
  MPI_Info_free(&info);

  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Session_create_errhandler(on_session, &handler), MPI_Session_set_errhandler(session, handler);
  MPI_Session_call_errhandler(session, MPI_ERR_OTHER), MPI_Errhandler_free(&handler);
  MPI_Session_get_errhandler(session, &handler), MPI_Errhandler_free(&handler);
  MPI_Session_get_info(session, &info), MPI_Info_free(&info);
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &a), check(a >= 2, "process sets");
  a = sizeof name;
  MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &a, name);
  MPI_Session_get_pset_info(session, name, &info), MPI_Info_free(&info);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Comm_create_from_group(world, "every", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_size(comm, &a), check(a == 2, "a communicator of a session");
  MPI_Comm_free(&comm);
  MPI_Group_incl(world, 1, &rank, &mine), MPI_Group_incl(world, 1, &other, &theirs);
  MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "inter", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                   &inter);
  MPI_Comm_free(&inter);
  MPI_Group_free(&mine), MPI_Group_free(&theirs), MPI_Group_free(&world);
#if OMPI_MAJOR_VERSION == 5
  MPI_Info_create(&info), MPI_Session_set_info(session, info), MPI_Info_free(&info);
#else
  static char buffer[2 * (1024 + MPI_BSEND_OVERHEAD)];
  void *detached;
  Count size;
  MPI_Session_attach_buffer(session, buffer, sizeof buffer), MPI_Session_flush_buffer(session);
  MPI_Session_iflush_buffer(session, r), MPI_Wait(r, ANY);
  MPI_Session_detach_buffer(session, &detached, &size);
#endif
  MPI_Session_finalize(&session);

#ifndef STANDARD_ABI
  MPI_Comm_dup(W, &comm);
  MPIX_Comm_get_failed(comm, &failed), MPI_Group_free(&failed);
  MPIX_Comm_failure_ack(comm), MPIX_Comm_failure_get_acked(comm, &failed), MPI_Group_free(&failed);
  MPIX_Comm_ack_failed(comm, 0, &a), MPIX_Comm_is_revoked(comm, &flag), check(!flag, "not revoked");
  flag = 1;
  MPIX_Comm_agree(comm, &flag), MPIX_Comm_iagree(comm, &flag, r), MPI_Wait(r, ANY);
  MPIX_Comm_shrink(comm, &inter), MPI_Comm_free(&inter);
#if OMPI_MAJOR_VERSION >= 6
  MPIX_Comm_ishrink(comm, &inter, r), MPI_Wait(r, ANY), MPI_Comm_free(&inter);
#endif
  MPIX_Comm_revoke(comm), MPI_Comm_free(&comm);
#endif
}
#endif

#if OMPI_MAJOR_VERSION >= 6
static void on_event(MPI_T_event_instance event, MPI_T_event_registration handle,
                     MPI_T_cb_safety safety, void *state) {
  MPI_Count when;
  int source, *calls = state;
  char data[256];
  (void)handle, (void)safety;
  if (++*calls > 1) return;
  MPI_T_event_get_timestamp(event, &when), MPI_T_event_get_source(event, &source);
  MPI_T_event_read(event, 0, data), MPI_T_event_copy(event, data);
}
static void on_dropped(MPI_Count count, MPI_T_event_registration handle, int source,
                       MPI_T_cb_safety safety, void *state) {
  (void)count, (void)handle, (void)source, (void)safety, (void)state;
}

static void events(void) {
  int provided, count, index, a, b, c, d, calls = 0, numbers[64], length = 256, text_length = 256;
  char name[256], text[256];
  MPI_Datatype types[64];
  MPI_Aint places[64];
  MPI_Count when, ticks, last;
  MPI_T_enum kind;
  MPI_T_source_order order;
  MPI_T_event_registration handle;
  MPI_Info info;
  MPI_Comm comm;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_category_get_num_events(0, &a), MPI_T_category_get_events(0, 64, numbers);
  MPI_T_source_get_num(&count);
  MPI_T_source_get_info(0, name, &length, text, &text_length, &order, &ticks, &last, &info);
  MPI_T_source_get_timestamp(0, &when);
  MPI_T_event_get_num(&count);
  MPI_T_event_get_index("ompi.mpi.communicator_created", &index);
  length = text_length = 256, a = 64;
  MPI_T_event_get_info(index, name, &length, &b, types, places, &a, &kind, &info, text,
                       &text_length, &c);
  MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &handle);
  MPI_Info_create(&info);
  MPI_T_event_handle_set_info(handle, info);
  MPI_T_event_register_callback(handle, MPI_T_CB_REQUIRE_NONE, info, &calls, on_event);
  MPI_T_event_callback_set_info(handle, MPI_T_CB_REQUIRE_NONE, info), MPI_Info_free(&info);
  MPI_T_event_callback_get_info(handle, MPI_T_CB_REQUIRE_NONE, &info), MPI_Info_free(&info);
  MPI_T_event_handle_get_info(handle, &info), MPI_Info_free(&info);
  MPI_T_event_set_dropped_handler(handle, on_dropped);
  MPI_Comm_dup(W, &comm), MPI_Comm_free(&comm);
  check(calls > 0, "an event");
  MPI_T_event_handle_free(handle, NULL, NULL);
  MPI_T_finalize();
  (void)count, (void)d;
}

static void since_6(void) {
  static char buffer[2 * (1024 + MPI_BSEND_OVERHEAD)];
  MPI_Request r[2];
  MPI_Status s[2];
  MPI_Info info;
  MPI_Datatype pair, t;
  void *detached;
  Count size;
  int flag, a, b, indices[2], class, code, yes, no;
  MPI_Comm_attach_buffer(W, buffer, sizeof buffer), MPI_Comm_flush_buffer(W);
  MPI_Comm_iflush_buffer(W, r), MPI_Wait(r, ANY), MPI_Comm_detach_buffer(W, &detached, &size);
  MPI_Buffer_attach(buffer, sizeof buffer), MPI_Buffer_flush(), MPI_Buffer_iflush(r);
  MPI_Wait(r, ANY), MPI_Buffer_detach(&detached, &size);
  for (int i = 0; i < 2; ++i) MPI_Irecv(in + i, 1, MPI_INT, other, 60 + i, W, r + i);
  for (int i = 0; i < 2; ++i) MPI_Send(out + i, 1, MPI_INT, other, 60 + i, W);
  for (flag = 0; !flag;) MPI_Request_get_status_all(2, r, &flag, s);
  MPI_Request_get_status_any(2, r, &a, &flag, s);
  MPI_Request_get_status_some(2, r, &a, indices, s), check(a == 2, "two complete requests");
  MPI_Waitall(2, r, s);
  MPI_Status_get_source(s, &a), MPI_Status_get_tag(s, &b), check(a == other && b == 60, "a status");
  MPI_Status_get_error(s, &a);
  MPI_Status_set_source(s, 0), MPI_Status_set_tag(s, 0), MPI_Status_set_error(s, 0);
  MPI_Abi_get_version(&a, &b);
  MPI_Abi_get_info(&info), MPI_Info_free(&info);
  /* Only a program of the standard ABI may set these; others are refused. */
  MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN),
      MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Abi_get_fortran_info(&info);
  MPI_Abi_set_fortran_info(info);
  MPI_Abi_get_fortran_booleans(sizeof(int), &yes, &no, &flag);
  MPI_Abi_set_fortran_booleans(sizeof(int), &yes, &no);
  MPI_Comm_set_errhandler(W, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Get_hw_resource_info(&info), MPI_Info_free(&info);
  MPI_Add_error_class(&class), MPI_Add_error_code(class, &code), MPI_Add_error_string(code, "gone");
  MPI_Remove_error_string(code), MPI_Remove_error_code(code), MPI_Remove_error_class(class);
  MPI_Type_get_value_index(MPI_INT, MPI_INT, &pair);
  MPI_Count integers, addresses, large, types;
  MPI_Count counts_inside[8];
  int numbers[8];
  MPI_Aint places[8];
  MPI_Datatype inside[8];
  MPI_Type_contiguous(2, MPI_INT, &t);
  MPI_Type_get_envelope_c(t, &integers, &addresses, &large, &types, &a);
  MPI_Type_get_contents_c(t, integers, addresses, large, types, numbers, places, counts_inside,
                          inside);
  MPI_Type_free(&t);
  events();
}
#endif

/* Two connected sockets for MPI_Comm_join. */
static int connected(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int port = 0, one = socket(AF_INET, SOCK_STREAM, 0);
  if (rank == 0) {
    bind(one, (struct sockaddr *)&address, sizeof address);
    listen(one, 1);
    getsockname(one, (struct sockaddr *)&address, &size);
    port = address.sin_port;
    MPI_Send(&port, 1, MPI_INT, 1, 40, W);
    int two = accept(one, NULL, NULL);
    close(one);
    return two;
  }
  MPI_Recv(&port, 1, MPI_INT, 0, 40, W, ANY);
  address.sin_port = (in_port_t)port;
  connect(one, (struct sockaddr *)&address, sizeof address);
  return one;
}

static void processes(char *self) {
  MPI_Comm child, peer;
  char port[MPI_MAX_PORT_NAME], *child_arguments[] = {(char *)"child", NULL};
  char *commands[2] = {self, self}, **arguments[2] = {child_arguments, child_arguments};
  const int one_each[2] = {1, 1};
  const MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm_spawn(self, child_arguments, 1, MPI_INFO_NULL, 0, W, &child, MPI_ERRCODES_IGNORE);
  MPI_Comm_disconnect(&child);
  MPI_Comm_spawn_multiple(2, commands, arguments, one_each, infos, 0, W, &child,
                          MPI_ERRCODES_IGNORE);
  MPI_Comm_disconnect(&child);
  if (rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name("every_function", MPI_INFO_NULL, port);
    MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 41, W);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &peer);
  } else {
    char found[MPI_MAX_PORT_NAME] = "";
    MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 41, W, ANY);
    MPI_Lookup_name("every_function", MPI_INFO_NULL, found);
    check(strcmp(port, found) == 0, "a published name");
    MPI_Comm_connect(found, MPI_INFO_NULL, 0, MPI_COMM_SELF, &peer);
  }
  MPI_Comm_disconnect(&peer);
  if (rank == 0) MPI_Unpublish_name("every_function", MPI_INFO_NULL, port), MPI_Close_port(port);
  int socket = connected();
  MPI_Comm_join(socket, &peer);
  MPI_Comm_disconnect(&peer);
  close(socket);
}

static int datarep_extent(MPI_Datatype type, MPI_Aint *extent, void *state) {
  (void)state;
  Count size;
  MPI_Type_size(type, &size);
  *extent = size;
  return MPI_SUCCESS;
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  int provided, size;
  if (strcmp(mode, "thread") == 0) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  } else {
    MPI_Init(&argc, &argv);
  }
  if (strcmp(mode, "child") == 0) {
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    MPI_Comm_disconnect(&parent);
    return MPI_Finalize();
  }
  MPI_Comm_rank(W, &rank);
  MPI_Comm_size(W, &size);
  if (size != 2) return printf("needs two ranks\n"), MPI_Abort(W, 2), 2;
  other = 1 - rank;
  if (strcmp(mode, "abort") == 0) {
    MPI_Barrier(W);
    if (rank == 0) MPI_Abort(W, 3);
    MPI_Barrier(W);
  }
  if (strcmp(mode, "thread") != 0) {
    sends(), probes(), completions(), collectives(W), topologies(), groups(), communicators(),
        datatypes();
    windows(), environment(), tools();
    MPI_Register_datarep("of_its_own", CONVERSION_NULL, CONVERSION_NULL, datarep_extent, NULL);
    files();
#if OMPI_MAJOR_VERSION >= 5
    since_5();
#endif
#if OMPI_MAJOR_VERSION >= 6
    since_6();
#endif
    if (strcmp(mode, "alone") != 0) processes(argv[0]);
  }
  int all = 0;
  MPI_Reduce(&checks, &all, 1, MPI_INT, MPI_SUM, 0, W);
  if (rank == 0) printf("%d checks\n", all);
  return MPI_Finalize();
}

// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/calls/arguments.h"

#include "profiler/counting/profiled_process.h"
#include "profiler/counting/windows.h"
#include "profiler/openmpi/mpi_library.h"

namespace fathom::profiler::calls {
namespace {

// Whether a communicator's fields may be read: a handle that Fathom does not know may be invalid.
bool is_known(MPI_Comm comm) { return comm != nullptr && Communicators::find(comm) != nullptr; }

std::int64_t local_size(MPI_Comm comm) { return rankmap::group_size(rankmap::local_group(comm)); }
std::int64_t remote_size(MPI_Comm comm) { return rankmap::group_size(rankmap::remote_group(comm)); }

bool is_root(int root, MPI_Comm comm) {
  return rankmap::is_intercommunicator(comm) ? root == MPI_ROOT : root == rankmap::my_rank(comm);
}
// On an intercommunicator, the group of the root receives and the other sends, or the reverse.
bool is_in_roots_group(int root, MPI_Comm comm) {
  return rankmap::is_intercommunicator(comm) &&
         (root == MPI_ROOT || native_rank(root) == MPI_PROC_NULL);
}

std::int64_t sum(sent::Counts counts, std::int64_t how_many) {
  std::int64_t all = 0;
  for (std::int64_t i = 0; !counts.is_null() && i < how_many; ++i)
    all += counts[i] > 0 ? counts[i] : 0;
  return all;
}

std::uint64_t sum(sent::Counts counts, const MPI_Datatype* datatypes, std::int64_t how_many) {
  std::uint64_t all = 0;
  if (counts.is_null() || datatypes == nullptr) return 0;
  for (std::int64_t i = 0; i < how_many; ++i) {
    if (counts[i] > 0) all += bytes(counts[i], datatypes[i]);
  }
  return all;
}

template <typename F>
F mpi_function(const char* name) {
  return find_in_mpi_as<F>(name);
}

// How many neighbours this process sends to; 0 without a topology.
std::int64_t destinations(MPI_Comm comm) {
  static const auto topology = mpi_function<int (*)(MPI_Comm, int*)>("PMPI_Topo_test");
  static const auto dimensions = mpi_function<int (*)(MPI_Comm, int*)>("PMPI_Cartdim_get");
  static const auto neighbours =
      mpi_function<int (*)(MPI_Comm, int, int*)>("PMPI_Graph_neighbors_count");
  static const auto degrees =
      mpi_function<int (*)(MPI_Comm, int*, int*, int*)>("PMPI_Dist_graph_neighbors_count");
  int kind = MPI_UNDEFINED, count = 0, in = 0, weighted = 0;
  if (rankmap::is_intercommunicator(comm) || topology(comm, &kind) != MPI_SUCCESS) return 0;
  if (kind == FATHOM_OF_PROGRAM(MPI_CART) && dimensions(comm, &count) == MPI_SUCCESS)
    return std::int64_t{2} * count;
  if (kind == FATHOM_OF_PROGRAM(MPI_GRAPH) &&
      neighbours(comm, rankmap::my_rank(comm), &count) == MPI_SUCCESS)
    return count;
  if (kind == FATHOM_OF_PROGRAM(MPI_DIST_GRAPH) &&
      degrees(comm, &in, &count, &weighted) == MPI_SUCCESS)
    return count;
  return 0;
}

}  // namespace

int tag_of_next_collective(MPI_Comm comm) {
  return is_known(comm) ? rankmap::next_nonblocking_tag(comm) : 0;
}

std::uint32_t communicator_of(MPI_Win window) {
  ProfiledProcess* process = ProfiledProcess::active();
  if (process == nullptr || window == nullptr) return ~0u;
  const Window known = process->windows().find(window);
  return known.handle == nullptr ? ~0u : known.kind;
}

std::uint32_t communicator_of(MPI_Message message) {
  message = native(message);
  if (message == nullptr) return ~0u;
  return communicator(static_cast<MPI_Comm>(rankmap::field<void*>(message, openmpi::kMessageComm)));
}

std::uint64_t bytes_unless_no_op(MPI_Op op, std::int64_t count, MPI_Datatype datatype) {
  static const void* const no_op = find_variable_in_mpi("ompi_mpi_op_no_op");
  return static_cast<const void*>(native(op)) == no_op ? 0 : bytes(count, datatype);
}

namespace sent {

std::uint64_t allgather(Buffer from, Count count, Type type, Buffer, Count in_count, Type in_type,
                        Comm) {
  return from == MPI_IN_PLACE ? bytes(in_count, in_type) : bytes(count, type);
}

std::uint64_t allgatherv(Buffer from, Count count, Type type, Buffer, Counts in_counts,
                         Displacements, Type in_type, Comm comm) {
  if (from != MPI_IN_PLACE) return bytes(count, type);
  return is_known(comm) && !in_counts.is_null() ? bytes(in_counts[rankmap::my_rank(comm)], in_type)
                                                : 0;
}

std::uint64_t allreduce(Buffer, Buffer, Count count, Type type, MPI_Op, Comm) {
  return bytes(count, type);
}
std::uint64_t scan(Buffer, Buffer, Count count, Type type, MPI_Op, Comm) {
  return bytes(count, type);
}
std::uint64_t exscan(Buffer, Buffer, Count count, Type type, MPI_Op, Comm) {
  return bytes(count, type);
}

std::uint64_t alltoall(Buffer from, Count count, Type type, Buffer, Count in_count, Type in_type,
                       Comm comm) {
  if (!is_known(comm)) return 0;
  return from == MPI_IN_PLACE ? bytes(local_size(comm) * in_count, in_type)
                              : bytes(remote_size(comm) * count, type);
}

std::uint64_t alltoallv(Buffer from, Counts counts, Displacements, Type type, Buffer,
                        Counts in_counts, Displacements, Type in_type, Comm comm) {
  if (!is_known(comm)) return 0;
  return from == MPI_IN_PLACE ? bytes(sum(in_counts, local_size(comm)), in_type)
                              : bytes(sum(counts, remote_size(comm)), type);
}

std::uint64_t alltoallw(Buffer from, Counts counts, Displacements, Types types, Buffer,
                        Counts in_counts, Displacements, Types in_types, Comm comm) {
  if (!is_known(comm)) return 0;
  return from == MPI_IN_PLACE ? sum(in_counts, in_types, local_size(comm))
                              : sum(counts, types, remote_size(comm));
}

std::uint64_t bcast(Buffer, Count count, Type type, int root, Comm comm) {
  return is_known(comm) && is_root(root, comm) ? bytes(count, type) : 0;
}

std::uint64_t gather(Buffer from, Count count, Type type, Buffer, Count in_count, Type in_type,
                     int root, Comm comm) {
  if (!is_known(comm) || is_in_roots_group(root, comm)) return 0;
  return from == MPI_IN_PLACE ? bytes(in_count, in_type) : bytes(count, type);
}

std::uint64_t gatherv(Buffer from, Count count, Type type, Buffer, Counts in_counts, Displacements,
                      Type in_type, int root, Comm comm) {
  if (!is_known(comm) || is_in_roots_group(root, comm)) return 0;
  if (from != MPI_IN_PLACE) return bytes(count, type);
  return !in_counts.is_null() && is_root(root, comm) ? bytes(in_counts[root], in_type) : 0;
}

std::uint64_t reduce(Buffer, Buffer, Count count, Type type, MPI_Op, int root, Comm comm) {
  return is_known(comm) && !is_in_roots_group(root, comm) ? bytes(count, type) : 0;
}

std::uint64_t reduce_scatter(Buffer, Buffer, Counts counts, Type type, MPI_Op, Comm comm) {
  return is_known(comm) ? bytes(sum(counts, local_size(comm)), type) : 0;
}

std::uint64_t reduce_scatter_block(Buffer, Buffer, Count count, Type type, MPI_Op, Comm comm) {
  return is_known(comm) ? bytes(local_size(comm) * count, type) : 0;
}

std::uint64_t scatter(Buffer, Count count, Type type, Buffer, Count, Type, int root, Comm comm) {
  return is_known(comm) && is_root(root, comm) ? bytes(remote_size(comm) * count, type) : 0;
}

std::uint64_t scatterv(Buffer, Counts counts, Displacements, Type type, Buffer, Count, Type,
                       int root, Comm comm) {
  return is_known(comm) && is_root(root, comm) ? bytes(sum(counts, remote_size(comm)), type) : 0;
}

std::uint64_t neighbor_allgather(Buffer, Count count, Type type, Buffer, Count, Type, Comm) {
  return bytes(count, type);
}

std::uint64_t neighbor_allgatherv(Buffer, Count count, Type type, Buffer, Counts, Displacements,
                                  Type, Comm) {
  return bytes(count, type);
}

std::uint64_t neighbor_alltoall(Buffer, Count count, Type type, Buffer, Count, Type, Comm comm) {
  return is_known(comm) ? bytes(destinations(comm) * count, type) : 0;
}

std::uint64_t neighbor_alltoallv(Buffer, Counts counts, Displacements, Type type, Buffer, Counts,
                                 Displacements, Type, Comm comm) {
  return is_known(comm) ? bytes(sum(counts, destinations(comm)), type) : 0;
}

std::uint64_t neighbor_alltoallw(Buffer, Counts counts, Displacements, Types types, Buffer, Counts,
                                 Displacements, Types, Comm comm) {
  return is_known(comm) ? sum(counts, types, destinations(comm)) : 0;
}

}  // namespace sent
}  // namespace fathom::profiler::calls

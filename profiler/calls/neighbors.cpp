// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/calls/neighbors.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "profiler/counting/communicators.h"
#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/standard_abi.h"
#include "profiler/waits/neighbor_lists.h"
#include "profiler/waits/wait_log.h"
#include "rankmap/communicator_view.h"

namespace fathom::profiler::calls {
namespace {

// MPI 3.1, section 7.6: in a Cartesian topology a process exchanges with both sides in each dimension.
bool add_cartesian(MPI_Comm comm, std::vector<int>& ranks) {
  static const auto dimensions = find_in_mpi_as<int (*)(MPI_Comm, int*)>("PMPI_Cartdim_get");
  static const auto shift =
      find_in_mpi_as<int (*)(MPI_Comm, int, int, int*, int*)>("PMPI_Cart_shift");
  int count = 0;
  if (dimensions == nullptr || shift == nullptr || dimensions(comm, &count) != MPI_SUCCESS)
    return false;
  for (int dimension = 0; dimension < count; ++dimension) {
    int before = -1, after = -1;
    if (shift(comm, dimension, 1, &before, &after) != MPI_SUCCESS) return false;
    ranks.insert(ranks.end(), {before, after});
  }
  return true;
}

bool add_graph(MPI_Comm comm, std::vector<int>& ranks) {
  static const auto how_many =
      find_in_mpi_as<int (*)(MPI_Comm, int, int*)>("PMPI_Graph_neighbors_count");
  static const auto neighbors =
      find_in_mpi_as<int (*)(MPI_Comm, int, int, int*)>("PMPI_Graph_neighbors");
  const int rank = rankmap::my_rank(comm);
  int count = 0;
  if (how_many == nullptr || neighbors == nullptr || how_many(comm, rank, &count) != MPI_SUCCESS)
    return false;
  ranks.resize(static_cast<std::size_t>(std::max(count, 0)));
  return neighbors(comm, rank, count, ranks.data()) == MPI_SUCCESS;
}

bool add_distributed(MPI_Comm comm, std::vector<int>& ranks) {
  static const auto degrees =
      find_in_mpi_as<int (*)(MPI_Comm, int*, int*, int*)>("PMPI_Dist_graph_neighbors_count");
  static const auto neighbors = find_in_mpi_as<int (*)(MPI_Comm, int, int*, int*, int, int*, int*)>(
      "PMPI_Dist_graph_neighbors");
  int in = 0, out = 0, weighted = 0;
  if (degrees == nullptr || neighbors == nullptr ||
      degrees(comm, &in, &out, &weighted) != MPI_SUCCESS)
    return false;
  const auto from = static_cast<std::size_t>(std::max(in, 0));
  ranks.resize(from + static_cast<std::size_t>(std::max(out, 0)) + 1, -1);
  std::vector<int> weights(ranks.size());
  return neighbors(comm, in, ranks.data(), weights.data(), out, ranks.data() + from,
                   weights.data() + from) == MPI_SUCCESS;
}

std::int32_t ask(MPI_Comm comm) noexcept try {
  static const auto topology = find_in_mpi_as<int (*)(MPI_Comm, int*)>("PMPI_Topo_test");
  int kind = MPI_UNDEFINED;
  if (topology == nullptr || rankmap::is_intercommunicator(comm) ||
      topology(comm, &kind) != MPI_SUCCESS)
    return NeighborLists::kUnknown;
  std::vector<int> ranks;
  const bool known = kind == FATHOM_OF_PROGRAM(MPI_CART)         ? add_cartesian(comm, ranks)
                     : kind == FATHOM_OF_PROGRAM(MPI_GRAPH)      ? add_graph(comm, ranks)
                     : kind == FATHOM_OF_PROGRAM(MPI_DIST_GRAPH) ? add_distributed(comm, ranks)
                                                                 : false;
  if (!known) return NeighborLists::kUnknown;
  const int own = rankmap::my_rank(comm);
  std::vector<std::uint32_t> others;
  // Its own rank is left out, because a process does not wait for itself.
  for (const int rank : ranks)  // MPI_PROC_NULL is negative
    if (rank >= 0 && rank != own) others.push_back(static_cast<std::uint32_t>(rank));
  return NeighborLists::add(std::move(others));
} catch (...) {
  return NeighborLists::kUnknown;
}

}  // namespace

std::int32_t neighbors_of(MPI_Comm comm) {
  comm = native(comm);
  Live* const live = !WaitLog::on() || comm == nullptr ? nullptr : Communicators::find(comm);
  if (live == nullptr) return NeighborLists::kUnknown;
  if (live->neighbors == Live::kNotAsked) live->neighbors = ask(comm);
  return live->neighbors;
}

}  // namespace fathom::profiler::calls

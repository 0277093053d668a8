// SPDX-License-Identifier: BSD-3-Clause
// By which algorithm a collective was done, told from its messages alone: who sent how many to
// whom, and in which order each sent. For each algorithm that an operation may use it is written
// down which messages that makes; those that make the very messages that were sent are its names.
//
// The algorithms are those of Open MPI 4.1 (ompi/mca/coll/base, of non-blocking ones
// ompi/mca/coll/libnbc), which are the ones of the literature (R. Thakur, R. Rabenseifner, W.
// Gropp, Optimization of collective communication operations in MPICH, IJHPCA 19, 2005; J.
// Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster Computing 10,
// 2007). Some make the same messages on some shapes: of two processes nearly all do. Then all their
// names are told. Trees may be cut into segments: every edge then has the same multiple of
// messages. Of neighbourhood collectives only the program knows who is whose neighbour. "linear" is
// each block sent straight to each neighbour, which is all that Open MPI does; where the blocks of
// a process must be equally long, they are held to it. Constructors of communicators are made of
// other collectives: MPI_Iallreduce of one number, some times (ompi/communicator/comm_cid.c),
// MPI_Comm_split with an MPI_Allgather before.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/meaning.h"

namespace fathom::analysis {

// Ranks are those in the communicator.
struct CollectiveMessage {
  std::uint32_t source = 0, destination = 0;
  std::uint64_t bytes = 0;
  std::int32_t tag = 0;  // the library's: tells apart parts that are collectives themselves
};

struct RecognisedAlgorithm {
  std::string name;  // "ring"; several joined with " or "; "unknown"; "none" without messages
  std::uint32_t rounds =
      0;  // messages on the longest chain that the algorithm prescribes; 0: unknown
  std::uint32_t segments = 1;
};

// Whether the operation is one collective; else it is made of others.
bool has_algorithms(const mpi::Meaning& operation);

// The library's tags of non-blocking collectives, each its own, in the order of the calls
// (ompi/mca/coll/base/coll_tags.h, ompi_coll_base_nbc_reserve_tags).
constexpr bool is_non_blocking_tag(std::int32_t tag) { return tag <= -27 && tag > -(1 << 30) + 1; }

// `function`: "MPI_Bcast"; `root` of those that have one. Messages of one source stand in the order
// of sending.
RecognisedAlgorithm recognise(const std::string& function, std::uint32_t size, std::uint32_t root,
                              const std::vector<CollectiveMessage>& messages);

}  // namespace fathom::analysis

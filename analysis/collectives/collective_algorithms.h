// SPDX-License-Identifier: BSD-3-Clause
// Recognises a collective's algorithm from its messages alone: who sent how many to whom, and in
// which order each process sent. A table lists the messages of each algorithm that an operation may
// use; every algorithm whose messages match those sent is a result.
//
// The algorithms are those of Open MPI 4.1 (ompi/mca/coll/base; non-blocking:
// ompi/mca/coll/libnbc), which are those of the literature (R. Thakur, R. Rabenseifner, W. Gropp,
// Optimization of collective communication operations in MPICH, IJHPCA 19, 2005; J.
// Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster Computing 10,
// 2007).
//
// - Some algorithms send the same messages on some shapes; with two processes nearly all do. The
//   result then has all their names.
// - Trees may be split into segments: every edge then carries the same multiple of messages.
// - Only the program knows the neighbours of a neighbourhood collective. "linear" means that each
//   block goes straight to its neighbour, which is all that Open MPI does. If a process's blocks
//   must have equal length, that is checked.
// - Constructors of communicators are made of other collectives: several times MPI_Iallreduce of
//   one number (ompi/communicator/comm_cid.c); MPI_Comm_split starts with an MPI_Allgather.
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
  std::int32_t tag = 0;  // the library's: distinguishes parts that are themselves collectives
};

struct RecognisedAlgorithm {
  std::string name;  // "ring"; several joined with " or "; "unknown"; "none" without messages
  std::uint32_t rounds = 0;  // messages on the longest chain of the algorithm; 0: unknown
  std::uint32_t segments = 1;
};

// Whether the operation is a single collective; otherwise it is made of others.
bool has_algorithms(const mpi::Meaning& operation);

// Tags that the library gives non-blocking collectives: one per call, in call order
// (ompi/mca/coll/base/coll_tags.h, ompi_coll_base_nbc_reserve_tags).
constexpr bool is_non_blocking_tag(std::int32_t tag) { return tag <= -27 && tag > -(1 << 30) + 1; }

// `function`: "MPI_Bcast"; `root` if it has one. Messages of one source are in the order they were
// sent.
RecognisedAlgorithm recognise(const std::string& function, std::uint32_t size, std::uint32_t root,
                              const std::vector<CollectiveMessage>& messages);

}  // namespace fathom::analysis

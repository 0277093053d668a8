// SPDX-License-Identifier: BSD-3-Clause
// The routines of critter's metrics, and the terms of their cost models (path_metrics.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "mpi/meaning.h"

namespace fathom::analysis {

// Calls that are reported together. A non-blocking form counts with the blocking one; its wait is
// separate.
enum class Routine : std::uint8_t {
  kComputation,
  kSend,
  kIsend,
  kReceive,
  kIreceive,
  kSendReceive,
  kWait,
  kTest,
  kProbe,
  kBarrier,
  kBcast,
  kReduce,
  kAllreduce,
  kGather,
  kAllgather,
  kScatter,
  kReduceScatter,
  kAlltoall,
  kScan,
  kCommunicator,
  kOther,
};
inline constexpr std::size_t kRoutines = 21;

std::string_view name_of(Routine routine);
Routine routine_of(const mpi::Meaning& meaning);

// Calls that only look something up are computation, like anything else between communicating
// calls.
bool communicates(Routine routine);

// The number of terms log2 p, and of n, in the alpha-beta model of a collective.
std::uint32_t tree_terms(Routine routine);

// 0 for fewer than two.
double log2_of_size(std::size_t processes);

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
// Facts that are the same for all processes of a job, in a form suited to hot loops.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/step.h"
#include "base/flat_map.h"
#include "trace/meanings.h"

namespace fathom::analysis {

using mpi::Completes;
using mpi::Flow;
using mpi::Requests;

struct JobFacts {
  explicit JobFacts(const trace::Definitions& all);

  const trace::Definitions& definitions;  // must outlive this
  std::vector<mpi::Meaning> functions;
  // By communicator: its processes that have a trace, in the order of their ranks in it (for an
  // intercommunicator the local group first).
  std::vector<std::vector<std::uint32_t>> members;
  std::vector<std::vector<std::int32_t>> communicators;  // by process: those with other members too
  base::FlatMap<std::uint64_t, std::uint32_t> process_of_rank;

  // The process of a world rank; kNobody if it left no trace.
  std::uint32_t process_of(std::int32_t rank) const {
    const std::uint32_t* found =
        rank >= 0 ? process_of_rank.find(static_cast<std::uint32_t>(rank)) : nullptr;
    return found != nullptr ? *found : kNobody;
  }
};

}  // namespace fathom::analysis

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
  // By function: those that meet each other in one operation have the same number (MPI_Init and
  // MPI_Init_thread, MPI_Comm_accept and MPI_Comm_connect, both forms for counts).
  std::vector<std::uint32_t> operations;
  // By communicator: its processes that have a trace, in the order of their ranks in it (for an
  // intercommunicator the local group first).
  std::vector<std::vector<std::uint32_t>> members;       // the last one: job()
  std::vector<std::vector<std::int32_t>> communicators;  // by process: those with other members too
  base::FlatMap<std::uint64_t, std::uint32_t> process_of_rank;

  // Whether no process's trace begins in the middle of the run, as the window of a flight recorder does.
  // Otherwise it says how many messages and collectives came before, but no more than that.
  bool from_the_first = true;

  // A number in place of a communicator: all processes that have a trace, as MPI_Init and
  // MPI_Finalize bring them together.
  std::int32_t job() const { return static_cast<std::int32_t>(members.size() - 1); }

  // Of an intercommunicator, how many of its members are of the local group; of others, all.
  std::vector<std::size_t> local_members;  // by communicator
  // Whether data of a rooted collective pass between these two, of which one is the root: in an
  // intercommunicator only from group to group.
  bool exchange(std::int32_t communicator, std::size_t a, std::size_t b) const {
    const auto number = static_cast<std::size_t>(communicator);
    const std::size_t local = local_members[number];
    return local == members[number].size() || (a < local) != (b < local);
  }

  // Whether a moment of process `a` was before one of process `b`, whatever the error of their clocks.
  bool surely_before(std::uint32_t a, std::uint64_t a_ns, std::uint32_t b,
                     std::uint64_t b_ns) const;

  // What a kCollective does, which belongs to this call.
  const mpi::Meaning& meaning_of(const Step& part, const Step& call) const {
    return functions[PersistentName::is_one(part.object) ? PersistentName::function(part.object)
                                                         : call.number];
  }

  // The process of a world rank; kNobody if it left no trace.
  std::uint32_t process_of(std::int32_t rank) const {
    const std::uint32_t* found =
        rank >= 0 ? process_of_rank.find(static_cast<std::uint32_t>(rank)) : nullptr;
    return found != nullptr ? *found : kNobody;
  }
};

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
// The logical structure of a job's communication: which events belong together, and the logical
// step of each. It follows from dependences alone, not from time (K. E. Isaacs et al., Combing the
// communication hairball: visualizing parallel execution traces using logical time, InfoVis 2014;
// with the refinements of its implementation, Ravel).
//
//   partition    events connected by messages and collectives, plus events that would otherwise
//                have to come both before and after these (strongly connected components of the
//                order on the processes)
//   leap         of a partition: 0 if none precedes it, else 1 + the largest of its predecessors
//   stride       of an event that sends, in its partition: 0 if none precedes it, else 1 + the
//                largest of its predecessors: the last such event of its process, and the senders
//                of what its process received since. The members of a collective share one stride
//   step         in the partition. A receive: 1 + the largest step of the event before it and of
//                its senders, before the first stride that depends on it. All events of one stride
//                share one step, after all these
//   global step  2 * step + 1 + the first global step of the partition; partitions follow each
//                other as they depend. The computation before an event has the step before
//
// Leaps in which not all processes take part can be completed (complete_leaps), which suits
// bulk-synchronous programs: a partition joins its predecessors if it is ten times as far from its
// successors; otherwise successors that add a process join it. Cost: linear, about 100 ns per
// event; completing leaps: at worst leaps x partitions. Memory: about 50 bytes per event.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/lateness/comm_events.h"

namespace fathom::analysis {

struct StructureOptions {
  bool complete_leaps = false;
  bool force = false;  // if nothing else completes a leap, join all partitions of the next one
};

struct Partition {
  std::uint32_t leap = 0;
  std::uint32_t steps = 0;         // number of steps
  std::uint32_t first_step = 0;    // global
  std::uint32_t first_bucket = 0;  // buckets are the steps of all partitions, in sequence
};

struct LogicalStructure {
  ScratchVector<Partition> partitions;     // each before those that depend on it
  ScratchVector<std::uint32_t> partition;  // by event
  ScratchVector<std::uint32_t> stride;     // by event; kNobody: a receive
  ScratchVector<std::uint32_t> step;       // by event, in its partition
  std::uint32_t buckets = 0, leaps = 0;

  std::uint32_t bucket(std::size_t event) const {
    return partitions[partition[event]].first_bucket + step[event];
  }
  std::uint32_t global_step(std::size_t event) const {
    return partitions[partition[event]].first_step + 2 * step[event] + 1;
  }
};

LogicalStructure logical_structure(const CommEvents& all, const StructureOptions& options = {});

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
// The logical structure of a job's communication: which events belong together, and in which
// logical step each stands, from who depends on whom alone and not from time (K. E. Isaacs et al.,
// Combing the communication hairball: visualizing parallel execution traces using logical time,
// InfoVis 2014; with the refinements of its implementation, Ravel).
//
//   partition   the events that messages and collectives connect, and those that these would have to be both
//               before and behind (strongly connected components of the order on the processes)
//   leap        of a partition: 0 if none is before it, else 1 + the largest of those before
//   stride      of an event that sends, in its partition: 0 if none is before it, else 1 + the largest of those
//               before: the last such event of its process, and the senders of what its process received
//               since. Members of a collective have the same.
//   step        in the partition: a receive as late as it can stand, 1 + the largest of the event before it and
//               of its senders, before the first stride that depends on it; all events of one stride in the same
//               step, behind all these
//   global step partitions behind one another as they depend: 2 * step + 1 + the first of the partition, for each
//               event stands behind the computation before it, which has the step before
//
// Leaps that not all processes take part in can be completed (complete_leaps), as fits
// bulk-synchronous programs: a partition goes together with those before it where it is ten times
// as far from those behind it; else those behind it that add a process join it. Cost: linear, some
// 100 ns an event; completing leaps: leaps x partitions at worst. Memory: some 50 bytes an event.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/lateness/comm_events.h"

namespace fathom::analysis {

struct StructureOptions {
  bool complete_leaps = false;
  bool force = false;  // where nothing else completes a leap, all partitions of the next join
};

struct Partition {
  std::uint32_t leap = 0;
  std::uint32_t steps = 0;         // number of
  std::uint32_t first_step = 0;    // global
  std::uint32_t first_bucket = 0;  // buckets are the steps of all partitions, one behind another
};

struct LogicalStructure {
  ScratchVector<Partition> partitions;     // before those that depend on them
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

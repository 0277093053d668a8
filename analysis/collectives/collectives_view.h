// SPDX-License-Identifier: BSD-3-Clause
// The hidden view: expands each collective call into the messages that carried it out, the
// algorithm they follow, and the message that delayed it.
//
// Needs the steps of hidden messages (JoinOptions). A message belongs to the call in which it was
// sent and received. A non-blocking collective makes progress in any library call between its start
// and the completion of its request; the library gives each one its own tag, in call order on the
// communicator. So each operation, in that order, takes the next tag whose messages were all sent
// within its time span at their senders. An operation that sends nothing, which is rare, may
// therefore take the messages of the next one if both are active at the same time.
//
// The late edge of an operation: start at the member that left last and follow back the messages
// that it and then their senders waited for. The last of these comes from a process that waited for
// none, so its late arrival, or its work, determined how long the operation took. Cost: about 300
// ns per hidden message. Memory: active operations and result rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/results/analysis.h"
#include "analysis/scope/input.h"

namespace fathom::analysis {

// Operations with the same function, communicator, size and algorithm.
struct CollectiveRow {
  std::uint32_t function = 0;
  std::int32_t communicator = 0;
  std::uint32_t size_bin = 0;  // bit width of the largest bytes value passed by any member
  char algorithm[256] = {};    // as recognise() names it
  std::uint32_t rounds = 0, segments = 0;
  std::uint64_t count = 0, messages = 0, bytes = 0;
  std::uint64_t inside_ns = 0;  // from the last entry to the last exit, summed
  std::uint64_t most_inside_ns = 0;
  std::uint64_t spread_ns = 0;  // from the first entry to the last, summed
  std::uint32_t late_source = kNobody,
                late_destination = kNobody;  // processes: the most frequent late edge
  std::uint64_t late_count = 0;
};

// At analysis process 0, sorted by communicator, function, size and algorithm. Collective over the
// job's transport.
std::vector<CollectiveRow> open_collectives(JoinedJob& job);

base::Result<Outcome> collectives(const Input& input);

}  // namespace fathom::analysis

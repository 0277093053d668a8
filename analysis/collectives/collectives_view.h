// SPDX-License-Identifier: BSD-3-Clause
// The hidden view: each collective call opened into the messages that it was done by, which
// algorithm that is, and which message it was late for.
//
// Needs the steps of hidden messages (JoinOptions). A message belongs to the call that it was sent
// and received in. Those of a collective that does not block move whenever the library is called,
// from its call to the completion of its request; the library gives each a tag of its own, in the
// order of the calls on the communicator. So in that order each is given the next tag whose
// messages were all sent within that time at their senders. One that sends nothing, which is rare,
// may so take the messages of the next if they are under way together.
//
// The late edge of an operation: from the member that left last back along the messages that it and
// their senders waited for; the last of them comes from a process that waited for none, so that its
// coming late, or its work, is what the operation took so long for. Cost: some 300 ns a hidden
// message. Memory: operations under way, and rows of the result.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/results/analysis.h"
#include "analysis/scope/input.h"

namespace fathom::analysis {

// Operations that are alike.
struct CollectiveRow {
  std::uint32_t function = 0;
  std::int32_t communicator = 0;
  std::uint32_t size_bin = 0;  // bit width of the bytes a call was given, at most
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

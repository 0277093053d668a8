// SPDX-License-Identifier: BSD-3-Clause
// The counts from which the issues follow (issues.h): calls by rank, messages by link, activity
// over time, and waits.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/call_wait.h"
#include "analysis/scope/input.h"

namespace fathom::analysis {

struct RankCalls {
  std::uint32_t process = 0, reserved = 0;
  std::uint64_t calls = 0;        // of MPI
  std::uint64_t completions = 0;  // waits and tests
  std::uint64_t completed_requests = 0;
  std::uint64_t barriers = 0;
  std::uint64_t collectives = 0;         // without barriers
  std::uint64_t global_collectives = 0;  // all ranks of the job exchange data
  std::uint64_t rooted_collectives = 0;
};

// Messages with data received on one link, including those inside collectives.
struct LinkCounts {
  std::int64_t source = 0, destination = 0;
  std::int32_t communicator = -1;
  std::uint32_t message_class = 0;
  std::uint64_t bytes = 0, messages = 0;
  std::uint64_t first_ns = ~std::uint64_t{0}, last_ns = 0;
};

// Calls of rooted collectives at ranks other than the root.
struct RootCounts {
  std::int64_t root = 0;
  std::uint32_t function = 0, reserved = 0;
  std::uint64_t calls = 0, bytes = 0;
};

struct WindowCounts {
  std::uint64_t calls = 0, messages = 0, bytes = 0, completions = 0, barriers = 0, collectives = 0;
};

// Waits of one kind of one rank for another that are longer than late_wait_seconds.
struct LateCounts {
  std::uint32_t process = 0, culprit = 0;
  std::uint32_t kind = 0;  // WaitKind, or kEarlyArrival
  std::uint32_t function = 0;
  std::uint64_t count = 0, ns = 0, worst_ns = 0, worst_at_ns = 0;
};
// A member of a reduction that entered before its root; ns is the time in the call before the root
// entered.
inline constexpr std::uint32_t kEarlyArrival = kWaitKinds;

struct IssueCounts {  // at analysis process 0, sorted
  std::vector<RankCalls> ranks;
  std::vector<LinkCounts> links;
  std::vector<RootCounts> roots;
  std::vector<WindowCounts> windows;
  std::vector<LateCounts> late;
  std::uint64_t begin_ns = 0, end_ns = 0;  // of the scope
};

// One pass over the events, two over the steps. Collective over the job's transport.
base::Result<IssueCounts> count_issues(const Input& input);

}  // namespace fathom::analysis

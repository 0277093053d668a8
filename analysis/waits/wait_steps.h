// SPDX-License-Identifier: BSD-3-Clause
// All waits of a job, and who caused them: directly, and through others that were made to wait.
//
// Two passes over the steps. The first goes forward and needs nobody else: it finds the waits,
// notes with each call how long its process had waited by then, and tells those that are waited for
// that a share of the blame will come to that call of theirs. The second goes backward, against the
// direction of messages, and hands out the blame (D. Böhme et al., Identifying the root causes of
// wait states in large-scale parallel applications, ICPP 2010): the process that came late was busy
// longer, or had waited itself, since the two last met. The part by which it was busy longer is its
// own doing; the rest is spread over its waits in that time, in proportion, and so goes on to those
// that they were for.
//
// Two processes met where a message between them was received, or in a collective of all processes.
// Sums are integers, so that the result is the same for every number of analysis processes.
// Memory: waits under way, and rows of the result.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/call_wait.h"

namespace fathom::analysis {

// What the first thread of a process did longest in a time: nothing of MPI, or one call of it.
struct LongestStretch {
  std::uint64_t work_ns = 0;  // outside of MPI, between two calls; 0: nowhere
  std::uint64_t call_ns = 0;  // in a call of MPI; 0: in none
  std::uint32_t work_after = kNobody, work_before = kNobody, call = kNobody;  // functions
  std::uint64_t work_after_site = 0, work_before_site = 0, call_site = 0;
};

// The waits of one process that are alike.
struct WaitRow {
  std::uint32_t process = 0;
  WaitKind kind = WaitKind::kLateSender;
  std::uint32_t function = 0;
  std::uint32_t phase = kNobody;
  std::uint32_t culprit = 0;
  std::uint64_t site = 0;  // return address in this process; 0: not known
  std::uint64_t ns = 0, count = 0;
  std::uint64_t worst_ns = 0, worst_at_ns = 0;
  // What the culprit came late to in the longest of the waits, and what it did longest while it was
  // waited for.
  std::uint32_t late_for = kNobody;  // function
  std::uint64_t late_for_site = 0;   // in the culprit
  LongestStretch meanwhile;
};

// What one process caused before calls that are alike: others were made to wait for `direct_ns` by
// it, and for `indirect_ns` by those whom it had made wait.
struct OriginRow {
  std::uint32_t process = 0;
  std::uint32_t function = 0;  // of the call that it came to late
  std::uint32_t phase = kNobody;
  std::uint64_t site = 0;
  std::uint64_t direct_ns = 0, indirect_ns = 0, count = 0;
  // Of the instance that cost most: when the other began to wait and for how long, and what this
  // one did in that time.
  std::uint64_t worst_at_ns = 0, worst_ns = 0;
  LongestStretch meanwhile;
};

struct JobWaits {
  std::vector<WaitRow> rows;  // at analysis process 0: all; sorted by process, kind, function, …
  std::vector<OriginRow> origins;
  std::uint64_t released = 0;  // processes that had to be let go on without their share of blame
};

// Which waits count: for their part in the window, of these processes, in calls of this phase.
// Blame is handed out for those alone, wherever in the job it falls.
struct WaitScope {
  std::uint64_t from_ns = 0, to_ns = ~std::uint64_t{0};
  const std::vector<bool>* processes = nullptr;  // nullptr: all
  std::uint32_t phase = kNobody;                 // kNobody: all
};

// Collective over the job's transport. Writes `note`, `blamed` and a call's `call` into the steps.
JobWaits find_waits(JoinedJob& job, const WaitScope& scope);

}  // namespace fathom::analysis

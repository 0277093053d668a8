// SPDX-License-Identifier: BSD-3-Clause
// All waits of a job and their causes: direct, and indirect through others that were made to wait.
//
// Two passes over the steps. The first goes forward and needs no other process: it finds the waits,
// records at each call how long its process had waited by then, and marks the calls that were
// waited for, because they will receive a share of the blame. The second goes backward, against the
// direction of messages, and distributes the blame (D. Böhme et al., Identifying the root causes of
// wait states in large-scale parallel applications, ICPP 2010): the process that came late was busy
// longer, or had waited itself, since the two last met. The time by which it was busy longer is its
// own blame; the rest is divided among its waits in that time, in proportion, and so passed on to
// the processes they were for.
//
// Two processes meet where a message between them is received, or in a collective of all processes.
// Sums are integers, so the result is the same for every number of analysis processes. Memory:
// active waits, and result rows.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/call_wait.h"

namespace fathom::analysis {

// What a process's first thread did longest during a period: work outside MPI, or one MPI call.
struct LongestStretch {
  std::uint64_t work_ns = 0;  // outside MPI, between two calls; 0: none
  std::uint64_t call_ns = 0;  // in an MPI call; 0: none
  std::uint32_t work_after = kNobody, work_before = kNobody, call = kNobody;  // functions
  std::uint64_t work_after_site = 0, work_before_site = 0, call_site = 0;
};

// Waits of one process with the same attributes.
struct WaitRow {
  std::uint32_t process = 0;
  WaitKind kind = WaitKind::kLateSender;
  std::uint32_t function = 0;
  std::uint32_t phase = kNobody;
  std::uint32_t culprit = 0;
  std::uint64_t site = 0;  // return address in this process; 0: unknown
  std::uint64_t ns = 0, count = 0;
  std::uint64_t worst_ns = 0, worst_at_ns = 0;
  // For the longest of the waits: what the culprit came late to, and what it did longest meanwhile.
  std::uint32_t late_for = kNobody;  // function
  std::uint64_t late_for_site = 0;   // in the culprit
  LongestStretch meanwhile;
};

// What one process caused before calls with the same attributes: `direct_ns` of waiting by others
// for it, and `indirect_ns` of waiting for processes that it had made wait.
struct OriginRow {
  std::uint32_t process = 0;
  std::uint32_t function = 0;  // of the call it was late for
  std::uint32_t phase = kNobody;
  std::uint64_t site = 0;
  std::uint64_t direct_ns = 0, indirect_ns = 0, count = 0;
  // For the costliest instance: when the other began to wait and for how long, and what this
  // process did meanwhile.
  std::uint64_t worst_at_ns = 0, worst_ns = 0;
  LongestStretch meanwhile;
};

struct JobWaits {
  std::vector<WaitRow> rows;  // all, at analysis process 0; sorted by process, kind, function, …
  std::vector<OriginRow> origins;
  std::uint64_t released = 0;  // processes released without their share of blame
};

// Which waits count: their part in the window, of these processes, in calls of these phases. Only
// these waits distribute blame, to any process of the job.
struct WaitScope {
  std::uint64_t from_ns = 0, to_ns = ~std::uint64_t{0};
  const std::vector<bool>* processes = nullptr;  // nullptr: all
  std::vector<bool> phases;                      // scope_filter.h; empty: all
};

// Collective over the job's transport. Stores `note`, `blamed` and a call's `call` in the steps.
JobWaits find_waits(JoinedJob& job, const WaitScope& scope);

}  // namespace fathom::analysis

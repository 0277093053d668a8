// SPDX-License-Identifier: BSD-3-Clause
// All waits of a job and their causes: direct, and indirect through others that were made to wait.
//
// Two passes over the steps. The first needs no other process: it finds the waits. The second visits
// all processes in causal order, with what each was delayed by (delay_stack.h). The delays that the
// culprit of a wait has, and its victim lacks, are to blame, each for what it adds; what they leave
// is the culprit's own.
//
// The question is that of D. Böhme, M. Geimer, F. Wolf and L. Arnold, Identifying the root causes of
// wait states in large-scale parallel applications, ICPP 2010. Their answer, delay costs, divides a
// wait between the culprit's delay d and the waiting w that it did itself, since it last synchronized
// with the victim, as d : w. That blames it also for waiting that the victim did as well, or that it
// caused itself; docs/analysis.md has an example. Here d and w are told apart by what they were for,
// however the processes learnt of it, so no common point in time is needed. That is the way of W. Meira,
// T. LeBlanc and A. Poulos, Waiting time analysis and performance visualization in Carnival, SPDT 1996: a
// wait is the difference of two paths, in which earlier waits are replaced by theirs, and what stands on
// both cancels out.
//
// Each wait is divided completely. Sums are integers, so the result is the same for every number of
// analysis processes. Memory: active waits, a stack for each message on its way, result rows.
#pragma once

#include <cstdint>
#include <tuple>
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

// Where a process's first thread spent time: working between two MPI calls, or inside one. Sites
// are return addresses in the process.
struct Stretch {
  std::uint32_t after = kNobody, before = kNobody;  // functions; inside a call: the call, kNobody
  std::uint64_t after_site = 0, before_site = 0;
  bool operator==(const Stretch&) const = default;
};

// What the waits of others are blamed on: a stretch of one process, in one phase.
struct CauseId {
  std::uint32_t process = 0, phase = kNobody;
  Stretch stretch;  // default: nothing is known
  bool operator==(const CauseId&) const = default;
};
struct CauseRow {
  CauseId id;
  std::uint64_t pieces = 0;     // of the stretch, for which others waited
  std::uint64_t waited_ns = 0;  // of the waits blamed on it, while it was going on
};

// Waits with the same attributes.
struct WaitId {
  std::uint32_t process = 0, function = 0, phase = kNobody;
  std::uint32_t awaited = 0;  // the process that it waited for
  WaitKind kind = WaitKind::kLateSender;
  std::uint64_t site = 0;
  bool operator==(const WaitId&) const = default;
};
// The one of several waits of which most is blamed on a cause; of equals, the first. The part in scope of the
// call that waited, whole: what it received lies in it, too.
struct WorstWait {
  std::uint64_t ns = 0;  // that is blamed on the cause; 0: no wait
  std::uint64_t from_ns = 0, to_ns = 0;

  bool comes_before(const WorstWait& other) const {
    return std::tuple(ns, ~from_ns, ~to_ns) > std::tuple(other.ns, ~other.from_ns, ~other.to_ns);
  }
  void add(const WorstWait& other) {
    if (other.comes_before(*this)) *this = other;
  }
};
// The part of these waits that is blamed on a cause: of waits for its process, and of waits for
// others that it had made late.
struct SymptomRow {
  CauseId cause;
  WaitId wait;
  std::uint64_t direct_ns = 0, indirect_ns = 0, count = 0;
  WorstWait worst;
};

// How long the first thread of a process worked in a stretch, all in all.
struct WorkRow {
  std::uint32_t process = 0;
  Stretch stretch;
  std::uint64_t ns = 0;
};

struct JobWaits {
  std::vector<WaitRow> rows;  // all, at analysis process 0; sorted by process, kind, function, …
  std::vector<OriginRow> origins;
  std::vector<CauseRow> causes;      // the same seconds as the origins'; sorted by process, …
  std::vector<SymptomRow> symptoms;  // and again; by cause, then by process, kind, …
  std::vector<WorkRow> work;         // of each process, longest first: all that matter
  std::uint64_t released = 0;        // processes that went on without what delayed another
};

// Which waits count: their part in the window, of these processes, in calls of these phases. Only
// these waits are divided, among all processes of the job.
struct WaitScope {
  std::uint64_t from_ns = 0, to_ns = ~std::uint64_t{0};
  const std::vector<bool>* processes = nullptr;  // nullptr: all
  std::vector<bool> phases;                      // scope_filter.h; empty: all
};

// Collective over the job's transport. Writes to the steps (wait_notes.h).
JobWaits find_waits(JoinedJob& job, const WaitScope& scope);

// The same without causes, which costs what the window holds: only `rows`, and in them nothing about what the
// culprit came late to or did meanwhile. Collective too; writes nothing.
JobWaits find_direct_waits(JoinedJob& job, const WaitScope& scope);

// By process, kind, function, site, phase, culprit.
void sort_waits(std::vector<WaitRow>& rows);

}  // namespace fathom::analysis

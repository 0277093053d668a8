// SPDX-License-Identifier: BSD-3-Clause
// What kept the processes that others waited for: by place in the program, summed over all waits
// (equation (8) of docs/analysis.md).
//
// A late process was waited for in the time before it came. Its first thread spent that time in
// pieces: work between two MPI calls, and MPI calls, without what it waited in them itself. Pieces
// between the same two lines, or at the same line, are of one stretch. The stretch with most time
// in the period is the cause of this part of the wait. Several others may wait for a process at
// once, so a mark in the steps says of a piece that it was counted.
//
// Sums are integers and do not depend on the order in which blame arrives, so they are the same for
// every number of analysis processes. Memory: result rows. Time: one look at each step of a period,
// at the last kMostSteps of a longer one.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/waits/wait_steps.h"
#include "base/flat_map.h"
#include "base/hash.h"

namespace fathom::analysis {

inline constexpr std::uint32_t kMostSteps = 1 << 12;

// A stretch with call sites by their numbers in the process: half as large, and found without a
// look at their addresses.
struct NumberedStretch {
  std::uint32_t after = kNobody, before = kNobody;            // functions, as in Stretch
  std::uint32_t after_site = kNobody, before_site = kNobody;  // JoinedJob::site_address
  auto operator<=>(const NumberedStretch&) const = default;

  static NumberedStretch between(const Step& after, const Step& before) {
    return {after.number, before.number, after.partner_step, before.partner_step};
  }
  static NumberedStretch inside(const Step& call) {
    return {call.number, kNobody, call.partner_step, kNobody};
  }
  Stretch with_addresses(const JoinedJob& job, std::uint32_t process) const {
    return {after, before, job.site_address(process, after_site),
            job.site_address(process, before_site)};
  }
  std::uint64_t hash() const {
    return base::mixed((std::uint64_t{after_site} << 32 | before_site) * 31 ^
                       (std::uint64_t{after} << 32 | before));
  }
};

// Call after note_waits().
class CauseTally {
 public:
  explicit CauseTally(JoinedJob& job) : job_(job) {}

  // A part of the wait `wait` is blamed on a process, which came to its step `call` too late by
  // `late_ns`. `waited`: the call that waited.
  void add(const WaitId& wait, std::uint32_t process, std::uint32_t call, std::uint64_t late_ns,
           std::uint64_t direct_ns, std::uint64_t indirect_ns, WorstWait waited);

  // Unsorted.
  std::vector<CauseRow> cause_rows() const;
  std::vector<SymptomRow> symptom_rows() const;

 private:
  struct LocalCause {
    std::uint32_t process = 0, phase = kNobody;
    NumberedStretch stretch;
    bool operator==(const LocalCause&) const = default;
  };
  struct CauseHash {
    std::uint64_t operator()(const LocalCause& cause) const {
      return base::mixed(cause.stretch.hash() ^ (std::uint64_t{cause.process} << 32 | cause.phase));
    }
  };
  // As in CauseRow.
  struct Spent {
    std::uint64_t pieces = 0, waited_ns = 0;
  };
  struct SymptomId {
    LocalCause cause;
    WaitId wait;
    bool operator==(const SymptomId&) const = default;
  };
  struct SymptomHash {
    std::uint64_t operator()(const SymptomId& symptom) const {
      const WaitId& wait = symptom.wait;
      return base::mixed(CauseHash{}(symptom.cause) ^ wait.site * 31 ^
                         (std::uint64_t{wait.process} << 40 ^ std::uint64_t{wait.phase} << 20 ^
                          std::uint64_t{wait.function} << 8 ^
                          static_cast<std::uint64_t>(wait.kind)));
    }
  };
  struct Sums {
    std::uint64_t direct_ns = 0, indirect_ns = 0, count = 0;
    WorstWait worst;
  };
  struct Piece {
    NumberedStretch stretch;
    std::uint32_t phase = kNobody;
    std::uint32_t call = 0;  // that it was inside of, or before
    std::uint64_t ns = 0;
  };

  void list_pieces(std::uint32_t process, std::uint32_t call, std::uint64_t begin_ns);
  // True if it had not been counted.
  bool count(std::uint32_t process, const Piece& piece);
  CauseId id_of(const LocalCause& cause) const {
    return {cause.process, cause.phase, cause.stretch.with_addresses(job_, cause.process)};
  }

  JoinedJob& job_;
  std::vector<Piece> pieces_;  // of one add()
  base::FlatMap<LocalCause, Spent, CauseHash> causes_;
  base::FlatMap<SymptomId, Sums, SymptomHash> symptoms_;
};

// How long the first thread of each process worked in each stretch, whether anybody waited for it
// or not, and whether the process is in scope or not: what the work of a late process is compared
// with.
class WorkTally {
 public:
  explicit WorkTally(const WaitScope& scope) : scope_(scope) {}

  // Between two calls of the first thread of one process; of the phase of the latter.
  void add(const Step& after, const Step& before);
  // The process is complete: keeps its kMostStretches longest.
  void end(const JoinedJob& job, std::uint32_t process);

  std::vector<WorkRow> rows() const { return rows_; }

 private:
  static constexpr std::size_t kMostStretches = 256;

  const WaitScope& scope_;
  struct Hash {
    std::uint64_t operator()(const NumberedStretch& stretch) const { return stretch.hash(); }
  };
  base::FlatMap<NumberedStretch, std::uint64_t, Hash> ns_;  // of the current process
  std::vector<WorkRow> rows_;
};

}  // namespace fathom::analysis

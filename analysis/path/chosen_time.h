// SPDX-License-Identifier: BSD-3-Clause
// How much of a process's time is in the chosen part of a run: its ranks, its window, its phases.
//
// A moment is in a phase if the innermost phase that the process has open then is chosen.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/scope/scope_filter.h"

namespace fathom::analysis {

class ChosenTime {
 public:
  // Both must outlive this. With chosen phases, reads the traces of own processes once.
  ChosenTime(const JoinedJob& job, const Scope& scope);

  bool whole() const { return whole_; }
  // The part of an interval of an own process, in ns; 0 if it ends before it begins.
  std::uint64_t inside_ns(std::uint32_t process, std::uint64_t from_ns, std::uint64_t to_ns) const;

 private:
  struct Interval {
    std::uint64_t from_ns = 0, to_ns = 0;
  };

  const ScopeFilter filter_;
  const bool whole_, by_phase_;
  std::vector<std::vector<Interval>> phases_;  // by process: in chosen phases, ascending
};

}  // namespace fathom::analysis

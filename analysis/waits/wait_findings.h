// SPDX-License-Identifier: BSD-3-Clause
// What a run's waits in one way at one place in the program become: a finding. The same sentences
// and figures for waits from a trace and from a profile.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "analysis/results/finding.h"
#include "mpi/wait_kind.h"

namespace fathom::analysis {

// All waits of one kind at one place.
struct WaitGroup {
  std::uint64_t ns = 0, count = 0, worst_ns = 0;
  std::map<std::int64_t, std::uint64_t> culprits, victims;               // ns by rank
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> pairs;  // ns by culprit, victim

  void add(std::int64_t victim, std::int64_t culprit, std::uint64_t pair_ns,
           std::uint64_t pair_count);
};

// Sets what follows from the time: seconds, strength, severity, the share in the evidence.
// `all_ns`: of all chosen ranks together.
void rate(Finding& finding, std::uint64_t ns, std::uint64_t all_ns);

// Everything but where.file and the like, windows and what the culprit did meanwhile.
Finding finding_of(mpi::WaitKind kind, const WaitGroup& group, Where where, double confidence,
                   std::uint64_t all_ns);

}  // namespace fathom::analysis

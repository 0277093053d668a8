// SPDX-License-Identifier: BSD-3-Clause
// Threads that outnumbered their processors: a process that seems to compute or to wait may only have
// waited for a processor.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/results/finding.h"
#include "profile/profile.h"
#include "trace/definitions.h"

namespace fathom::analysis {

struct SharedProcessors {
  // One for each host where that happened, in the order of first ranks.
  std::vector<std::string> sentences;
  // By rank of such a host: the share of its time, 0 to 1, that it waited for a processor. Where
  // nobody measured it, one half.
  std::map<std::int64_t, double> share;
};

// Where the profile knows how long threads waited for a processor (Rank::processor_wait_seconds), a
// host counts if a process there did for 2 % of its time, whatever the number of threads. Otherwise it
// counts if it ran more processes than they were together allowed processors (Process::affinity).
// Either may be null.
SharedProcessors shared_processors(const profile::Profile* profile,
                                   const trace::Definitions* definitions);

// A finding is less certain by the share of the worst of its culprits, or of its victims if it names
// no culprit, but by one half at most; its evidence says so.
void limit_finding(Finding& finding, const SharedProcessors& shared);

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
// What a trace can say about time. One that was sampled, filtered or recorded in part lacks calls,
// and time in calls that are not there looks like the program's own. A share or an efficiency that
// such a trace cannot know is left out, not estimated.
#pragma once

#include <cstdint>
#include <string>

#include "trace/definitions.h"

namespace fathom::analysis {

struct KnownTime {
  bool computing = true;  // which time is the program's own, and which is in MPI. A sampled trace
                          // knows, because it has the sums of the calls that it leaves out
  bool waits = true;      // every wait
  bool ranks = true;      // all ranks of the job
  bool order = true;      // every call in its place: which calls follow each other
  bool between = true;    // that no call was made between two recorded ones
  std::string lacking;    // "calls (functions MPI_Send)": what is missing first of all

  // "no load balance is given, because the trace lacks calls (functions MPI_Send)"
  std::string not_given(const std::string& what) const {
    return "no " + what + " is given, because the trace lacks " + lacking;
  }
};

// `gaps`: how often the trace says that records were lost or recording paused.
KnownTime known_time(const trace::Definitions& definitions, std::uint64_t gaps = 0);

// Whether the trace has one moment for each call, and not when it was left: imported from .mpic.
bool lacks_durations(const trace::Definitions& definitions);

// Of an entry of Definitions::selection: whether it chooses by this word ("functions", "sample").
bool selects_by(const std::string& entry, const char* word);

}  // namespace fathom::analysis

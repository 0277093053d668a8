// SPDX-License-Identifier: BSD-3-Clause
// A finding: one thing that costs the job time or may do so, who is in it, where, when, how sure
// that is, and what to try.
//
// Findings are ranked by the seconds they cost. A profile alone has no times: then `seconds` is
// empty, and such findings stand behind those with seconds, by severity and strength. Ranks are
// world ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/results/section.h"
#include "profile/profile.h"

namespace fathom::analysis {

enum class Severity { kInfo, kWarning, kCritical };

const char* name_of(Severity severity);  // "info", "warning", "critical"

// Scores from 0 to 1 as severities: 0.85 and more is critical, 0.6 and more a warning.
Severity severity_of(double score);

// The longest list of ranks or pairs that a finding should carry: the worst first, the rest is
// counted in the evidence.
inline constexpr std::size_t kMostListed = 64;

struct RankPair {
  std::int64_t source = 0;
  std::int64_t destination = 0;
  bool operator==(const RankPair&) const = default;
};

// As much as is known; the rest stays empty.
struct Where {
  std::string class_name;  // of the messages, as in the profile
  std::string function;    // "MPI_Wait", or the program's own
  std::string caller;      // the program's function that calls it
  std::string file;
  int line = 0;
  std::string phase;
  std::int64_t communicator = profile::kNone;
};

// A call of MPI in the program; file and line are empty and 0 where they are not known.
struct CallPlace {
  std::string function, file;
  int line = 0;
};

std::string text_of(const CallPlace& place);  // "MPI_Recv (halo.c:41)"

// What somebody did longest while others waited for it: it computed between two calls, or was in
// one itself.
struct Meanwhile {
  std::int64_t rank = 0;
  double seconds = 0;
  CallPlace after, before;          // of computing
  std::optional<CallPlace> inside;  // else
};

// "rank 3 computed 0.005 s between MPI_Recv (halo.c:41) and MPI_Send (halo.c:58)"
std::string text_of(const Meanwhile& meanwhile);

struct TimeWindow {
  double from_s = 0, to_s = 0;  // since the trace's time 0; within the window that was analysed
};

struct Finding {
  std::string kind;               // stable, for programs: "late-sender"
  std::optional<double> seconds;  // that waited, summed over the victims; empty: cannot be known
  Severity severity = Severity::kInfo;
  double strength =
      0;  // 0 to 1: how far over its threshold; of equal seconds the stronger is first
  double confidence = 1;    // 0 to 1: lost events, clock errors and too few messages make it less
  std::uint64_t count = 0;  // instances: messages, calls
  std::vector<std::int64_t> culprits, victims;
  std::vector<RankPair> pairs;  // culprit and victim, or the two ends of a link
  Where where;
  std::vector<TimeWindow> windows;
  std::optional<Meanwhile>
      meanwhile;        // of the first culprit, in the longest wait for it; empty: not known
  std::string summary;  // one sentence: what was found
  std::string advice;   // one sentence: what to try
  std::vector<Figure> evidence;
};

// Most seconds first, then by severity, strength, kind and culprits. The same findings give the
// same order.
void rank_findings(std::vector<Finding>& findings);

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
// A finding: one thing that costs the job time or may do so; who is involved, where, when, how
// certain it is, and what to try.
//
// Findings are ranked by the seconds they cost. A profile alone has no times: `seconds` is then
// empty, and such findings come after those with seconds, by severity and strength. Ranks are world
// ranks.
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

// Pyrite's scores from 0 to 1 as severities: critical from 0.85, warning from 0.6.
Severity severity_of(double score);

// What a finding costs, as a share of the time of all ranks: critical from a tenth, warning from 3 %.
Severity severity_of_cost(double share);

// Most ranks or pairs that a finding should list: the worst first; the evidence counts the rest.
inline constexpr std::size_t kMostListed = 64;

struct RankPair {
  std::int64_t source = 0;
  std::int64_t destination = 0;
  bool operator==(const RankPair&) const = default;
};

// As much as is known; the rest is empty.
struct Where {
  std::string class_name;  // of the messages, as in the profile
  std::string function;    // "MPI_Wait", or the program's own
  std::string caller;      // the program's function that calls it
  std::string file;        // or "app+0x1234" (trace/code/code_files.h)
  int line = 0;
  std::string phase;
  std::int64_t communicator = profile::kNone;
};

// An MPI call in the program, and the program's function that makes it. As much as is known, as in
// Where; without any name, file is "app+0x1234".
struct CallPlace {
  std::string function, caller, file;
  int line = 0;
};

// "MPI_Recv (halo.c:41)"; of a program without debug information "MPI_Recv (exchange)".
std::string text_of(const CallPlace& place);

// Where the culprits spent most of the time for which others waited: they computed between two
// calls, or were in a call themselves. Over the whole run, in `pieces` pieces.
struct Meanwhile {
  std::int64_t rank = 0;               // the first of them
  double seconds = 0, of_seconds = 0;  // of waiting while that was going on; of the finding
  std::uint64_t pieces = 0;
  CallPlace after, before;          // the calls around the computation
  bool mostly = false;              // another culprit's work began after another call
  std::optional<CallPlace> inside;  // otherwise the call it was in
};

// "between MPI_Recv (halo.c:41) and MPI_Send (halo.c:58)", "mostly between …", "in MPI_Recv (halo.c:41)"
std::string place_of(const Meanwhile& meanwhile);
// "50 pieces of work, during 500 ms of the 575 ms"
std::string amount_of(const Meanwhile& meanwhile);
// "rank 3 computed between MPI_Recv (halo.c:41) and MPI_Send (halo.c:58): 50 pieces of work, …"
std::string text_of(const Meanwhile& meanwhile);

// What a cause did to others: where they waited, in one way, at one place.
struct Symptom {
  std::string kind;  // of the wait: "late-sender"
  double seconds = 0;
  std::uint64_t count = 0;
  std::vector<std::int64_t> victims;
  Where where;
  bool passed_on = false;  // they waited for ranks that the culprits had made late
  std::string text;        // "rank 2 waits 0.6 s in MPI_Waitall (halo.c:47) for …"
};

struct TimeWindow {
  double from_s = 0, to_s = 0;  // since the trace's time 0; clipped to the analysed window
};

struct Finding {
  std::string kind;               // stable, for programs: "late-sender"
  std::string analysis;           // that found it; run_analyses() fills it in
  std::optional<double> seconds;  // of waiting, summed over the victims; empty: unknown. No second
                                  // of wait-states is in two findings
  Severity severity = Severity::kInfo;
  double strength = 0;      // 0 to 1: how far above its threshold; breaks ties in seconds
  double confidence = 1;    // 0 to 1: lowered by lost events, clock errors and too few messages
  std::uint64_t count = 0;  // instances: messages, calls
  std::vector<std::int64_t> culprits, victims;
  std::vector<RankPair> pairs;  // culprit and victim, or the two ends of a link
  Where where;
  std::vector<TimeWindow> windows;
  std::optional<Meanwhile> meanwhile;  // of the culprits; the first is named; empty: unknown
  std::vector<Symptom> symptoms;       // of a cause of waits: their seconds add up to its own
  std::string summary;                 // one sentence: what was found
  std::string advice;                  // one sentence: what to try
  std::vector<Figure> evidence;
};

// The order of findings: most seconds first, then by severity, strength, kind and culprits.
bool ranks_before(const Finding& a, const Finding& b);

// Stable, so that the order is deterministic.
void rank_findings(std::vector<Finding>& findings);

}  // namespace fathom::analysis

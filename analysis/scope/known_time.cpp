// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/scope/known_time.h"

#include <algorithm>
#include <iterator>

namespace fathom::analysis {
namespace {

bool is_time(const std::string& entry) {
  constexpr const char* kTimes[] = {"from", "to", "phases", "after", "for", "flight"};
  return std::any_of(std::begin(kTimes), std::end(kTimes),
                     [&](const char* word) { return selects_by(entry, word); });
}

}  // namespace

bool selects_by(const std::string& entry, const char* word) {
  return entry.starts_with(std::string(word) + " ");
}

bool lacks_durations(const trace::Definitions& definitions) { return definitions.source == "mpic"; }

KnownTime known_time(const trace::Definitions& definitions, std::uint64_t gaps) {
  KnownTime known;
  const auto lacks = [&](const std::string& what, bool KnownTime::*unknown) {
    known.*unknown = known.waits = false;
    if (known.lacking.empty()) known.lacking = what;
  };
  if (lacks_durations(definitions))
    lacks("how long calls took (an .mpic file has one moment for each)", &KnownTime::computing);
  for (const std::string& entry : definitions.selection) {
    if (selects_by(entry, "ranks")) {
      lacks("ranks (" + entry + ")", &KnownTime::ranks);
    } else if (selects_by(entry, "sample")) {
      lacks("the waits of calls that were not sampled (" + entry + ")", &KnownTime::order);
    } else {
      lacks(std::string(is_time(entry) ? "a part of the run (" : "calls (") + entry + ")",
            &KnownTime::computing);
      known.between = known.between && is_time(entry);
    }
  }
  for (const std::string& communicator : definitions.chosen_communicators)
    lacks("calls (communicator " + communicator + ")", &KnownTime::computing);
  std::uint64_t lost = 0;
  for (const trace::Process& process : definitions.processes) lost += process.lost_records;
  if (lost > 0) lacks(std::to_string(lost) + " records that were lost", &KnownTime::computing);
  const bool damaged =
      std::any_of(definitions.processes.begin(), definitions.processes.end(),
                  [](const trace::Process& process) { return !process.problems.empty(); });
  if (damaged) lacks("what was in its damaged parts", &KnownTime::computing);
  if (gaps > 0) lacks("what happened while recording was paused", &KnownTime::computing);
  known.between = known.between && known.order && definitions.chosen_communicators.empty() &&
                  lost == 0 && !damaged && gaps == 0;
  if (static_cast<std::int64_t>(definitions.processes.size()) < definitions.world_size)
    lacks("ranks that left no trace", &KnownTime::ranks);
  return known;
}

}  // namespace fathom::analysis

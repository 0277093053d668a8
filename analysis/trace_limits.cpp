// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/trace_limits.h"

#include <algorithm>
#include <cstdio>

#include "analysis/scope/known_time.h"
#include "base/seconds.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kMostNamed = 8;

std::string listed(const std::vector<std::int64_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size() && i < kMostNamed; ++i)
    text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
  if (ranks.size() > kMostNamed)
    text += " and " + std::to_string(ranks.size() - kMostNamed) + " more";
  return text;
}

std::vector<std::int64_t> missing_ranks(const trace::Definitions& definitions) {
  std::set<std::int64_t> there;
  for (const trace::Process& process : definitions.processes) there.insert(process.rank);
  std::vector<std::int64_t> missing;
  // A damaged file may claim any number of ranks.
  for (std::int64_t rank = 0; rank < definitions.world_size && missing.size() < (1 << 20); ++rank) {
    if (!there.contains(rank)) missing.push_back(rank);
  }
  return missing;
}

// Calls left out by choice distort every analysis of time: they look like the program's own work.
std::vector<std::string> limits_of_choice(const trace::Definitions& definitions) {
  std::vector<std::string> limits;
  std::string calls, cut, times;
  const auto join = [](std::string& text, const std::string& what) {
    base::add_to_list(text, what);
  };
  for (const std::string& pattern : definitions.chosen_communicators)
    join(calls, "communicator " + pattern);
  for (const std::string& what : definitions.selection) {
    if (selects_by(what, "sample")) {
      limits.push_back("only some calls were recorded (" + what +
                       "): time in MPI and computing are exact, but waits and critical path are "
                       "those of the recorded calls, so there is no share of all waits, and no "
                       "serialisation or transfer efficiency");
    } else if (selects_by(what, "from") || selects_by(what, "to")) {
      join(cut, what);
    } else if (selects_by(what, "flight")) {
      limits.push_back("only the last events of each rank are here (" + what +
                       "): calls and waits that began earlier are not counted, and until its own "
                       "events begin a rank looks as if it were still in MPI_Init, so no "
                       "efficiency, balance or share of MPI is given");
    } else if (selects_by(what, "phases") || selects_by(what, "after") || selects_by(what, "for")) {
      join(times, what);
    } else if (!selects_by(what, "ranks")) {
      join(calls, what);
    }
    if (selects_by(what, "ranks"))
      limits.push_back("only chosen ranks are in the trace (" + what +
                       "): waits for other ranks and paths through them are not found");
  }
  if (!calls.empty()) {
    limits.push_back(
        "the trace is partial (" + calls +
        "): time in calls that it lacks looks like computing, so no efficiency, balance "
        "or share of MPI is given, and wait-states and critical-path miss the waits "
        "in these calls");
  }
  if (!times.empty()) {
    limits.push_back(
        "only part of the run was recorded (" + times +
        "): time outside it looks like computing, so no efficiency, balance or share of "
        "MPI is given, and waits there are not found");
  }
  if (!cut.empty()) {
    limits.push_back("the trace was cut out of a longer one (" + cut +
                     "): calls that cross its edges and the waits in them are not counted, and "
                     "their time looks like computing, so no efficiency, balance or share of MPI "
                     "is given");
  }
  return limits;
}

std::vector<std::string> limits_of_clocks(const trace::Definitions& definitions) {
  std::uint64_t uncertainty_ns = 0;
  bool own = false, shifted = false;
  for (const trace::Process& process : definitions.processes) {
    if (!process.clock.own) continue;
    own = true;
    shifted = shifted || process.clock.bounded;
    uncertainty_ns = std::max(uncertainty_ns, process.clock.uncertainty_ns);
  }
  if (!own) return {};
  if (!shifted)
    return {
        "the processes' clocks were not synchronised when this trace was recorded, and it is not "
        "known by how much they differ: times of different ranks cannot be compared"};
  std::vector<std::string> limits = {
      "the processes' clocks were not synchronised when this trace was recorded: times were "
      "shifted as far as messages and collectives bound them, which leaves " +
      base::duration_text(base::seconds(uncertainty_ns)) +
      " either way; shorter waits are left out"};
  const std::set<std::int64_t> ranks = unsynchronised_ranks(definitions);
  if (!ranks.empty())
    limits.push_back("the clock of " + listed({ranks.begin(), ranks.end()}) +
                     " is bounded on one side only, or not at all: waits of and for such a rank "
                     "may be wrong by any amount");
  return limits;
}

}  // namespace

std::vector<std::string> limits_of_trace(const trace::Definitions& definitions) {
  std::vector<std::string> limits;
  if (const auto missing = missing_ranks(definitions); !missing.empty()) {
    const std::string them = missing.size() == 1 ? "it" : "them";
    limits.push_back(listed(missing) + " left no trace: no result includes " + them +
                     ", waits for " + them + " and paths through " + them +
                     " are not found, and collectives are judged by their other members");
  }
  std::vector<std::int64_t> cut, losing;
  std::uint64_t lost = 0;
  std::size_t problems = 0;
  for (const trace::Process& process : definitions.processes) {
    if (!process.complete) cut.push_back(process.rank);
    if (process.lost_records > 0) losing.push_back(process.rank);
    lost += process.lost_records;
  }
  if (!losing.empty()) {
    const std::string whose = losing.size() == 1 ? "its" : "their";
    limits.push_back(listed(losing) + " lost " + std::to_string(lost) + " records: " + whose +
                     " times lack the lost calls, and waits in these calls are not found");
  }
  for (const trace::Process& process : definitions.processes) {
    for (const std::string& problem : process.problems) {
      if (++problems <= kMostNamed) limits.push_back(problem);
    }
  }
  if (problems > kMostNamed)
    limits.push_back("and " + std::to_string(problems - kMostNamed) +
                     " more damaged places; fathom trace info lists them");
  if (!cut.empty()) {
    limits.push_back("the trace of " + listed(cut) +
                     " ends before MPI_Finalize: no result includes what came later there, and "
                     "the waits of others for it are not found");
  }
  if (lacks_durations(definitions))
    limits.push_back(
        "an .mpic file has one moment for each call: how long calls took and waited is not known, "
        "time in MPI looks like computing, and no efficiency, balance or share of MPI is given");
  for (std::string& limit : limits_of_choice(definitions)) limits.push_back(std::move(limit));
  for (std::string& limit : limits_of_clocks(definitions)) limits.push_back(std::move(limit));
  return limits;
}

std::set<std::int64_t> incomplete_ranks(const trace::Definitions& definitions) {
  std::set<std::int64_t> ranks;
  for (const std::int64_t rank : missing_ranks(definitions)) ranks.insert(rank);
  for (const trace::Process& process : definitions.processes) {
    if (!process.complete || process.lost_records > 0 || !process.problems.empty())
      ranks.insert(process.rank);
  }
  return ranks;
}

std::set<std::int64_t> unsynchronised_ranks(const trace::Definitions& definitions) {
  std::set<std::int64_t> ranks;
  for (const trace::Process& process : definitions.processes) {
    if (process.clock.own && !process.clock.bounded) ranks.insert(process.rank);
  }
  return ranks;
}

void limit_finding(Finding& finding, const std::set<std::int64_t>& ranks, const char* what) {
  std::set<std::int64_t> met;
  const auto meet = [&](std::int64_t rank) {
    if (ranks.contains(rank)) met.insert(rank);
  };
  for (const std::int64_t rank : finding.culprits) meet(rank);
  for (const std::int64_t rank : finding.victims) meet(rank);
  for (const RankPair& pair : finding.pairs) meet(pair.source), meet(pair.destination);
  // One that names nobody is about all.
  if (finding.culprits.empty() && finding.victims.empty() && finding.pairs.empty()) met = ranks;
  if (met.empty()) return;
  finding.confidence = std::min(finding.confidence, 0.5);
  finding.evidence.push_back({what, listed({met.begin(), met.end()})});
}

}  // namespace fathom::analysis

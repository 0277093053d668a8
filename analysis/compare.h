// SPDX-License-Identifier: BSD-3-Clause
// Compares two runs, or N scales, of a program: what grew, and by how much.
//
// The first run is the base.
//
//     growth            last / first; infinite if the first is 0, which is written as null
//     exponent          slope of log(value) over log(ranks), least squares over all runs with a
//                       value, for runs with at least two different numbers of ranks: 0 constant,
//                       1 grows with the ranks, 2 grows with the pairs
//     efficiency        base seconds × base ranks / (seconds × ranks): strong scaling
//     weak_efficiency   base seconds / seconds: weak scaling, where each rank keeps its work
//
// Runs whose calls were timed, or that were traced, also have the time in each MPI function and in
// the program: exclusive, of the mean rank (Pipit's multirun_analysis sums over the ranks instead).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/results/section.h"
#include "analysis/scope/input.h"
#include "base/result.h"
#include "profile/profile.h"
#include "profile/summary.h"

namespace fathom::analysis {

struct ComparedRun {
  std::string name;
  std::int64_t ranks = 0;
  double seconds = 0;
  profile::Volume all;
  double peers = 0;  // mean number of different ranks a rank sends to
};

struct ScalingRow {
  ComparedRun run;
  double speedup = 0, efficiency = 0, weak_efficiency = 0;  // 0 if seconds are unknown
  double bytes_per_rank = 0, messages_per_rank = 0, mean_bytes = 0;
};

struct ComparedClass {
  std::string class_name;
  bool hidden = false;
  std::vector<profile::Volume> by_run;
  double growth_bytes = 0, growth_messages = 0;
  std::optional<double> exponent_bytes, exponent_messages;
};

struct ComparedPair {
  std::int64_t source = 0, destination = 0;
  profile::Volume first, last;
};

struct ComparedFunction {
  std::string name;                    // "(program)" is outside MPI
  std::vector<double> seconds_by_run;  // of the mean rank
  double growth = 0;
  std::optional<double> exponent;
};

struct ComparedCallSite {
  std::string function;                // "MPI_Wait"
  std::string place;                   // "exchange (halo.c:88)"
  std::vector<double> seconds_by_run;  // of the mean rank
  double growth = 0;
};

struct ComparedWait {
  std::string function;                // of the calls that waited: "MPI_Wait"
  std::string place;                   // "exchange (halo.c:88)"
  std::int64_t rank = 0, awaited = 0;  // who waited for whom
  std::vector<double> seconds_by_run;
  double growth = 0;
};

struct ComparedPathPart {
  std::string function;
  std::string place;
  bool program = false;                // computing before the calls
  std::vector<double> seconds_by_run;  // on the critical path, over all ranks
  double growth = 0;
};

struct Comparison {
  std::vector<ScalingRow> runs;
  std::vector<ComparedClass> classes;  // largest change in bytes first, then in messages
  std::vector<ComparedPair> pairs;  // same order; at most 64, only if all runs have the same ranks
  std::vector<ComparedFunction>
      functions;  // largest change in seconds first; only if all runs have times of calls
  std::vector<ComparedCallSite> call_sites;  // the same; only from profiles with times
  // The same; waits only if all runs have the same ranks, and at most 64 of them.
  std::vector<ComparedWait> waits;
  std::vector<ComparedPathPart> path;
  std::optional<double> exponent_bytes, exponent_messages, exponent_seconds;
};

// An Error if there are fewer than two profiles.
base::Result<Comparison> compare_profiles(const std::vector<const profile::Profile*>& profiles,
                                          const std::vector<std::string>& names);

// Adds functions and call sites from the times in the profiles; nothing if one of them has none. A
// call site is the same in two runs if the MPI function and the place's text are, so that programs
// built anew can be compared.
void compare_calls(const std::vector<const profile::Profile*>& profiles, Comparison& comparison);

// Adds the waits, and the parts of the critical paths, of the profiles that know them; nothing if
// one of them does not. Places are compared as above.
void compare_waits(const std::vector<const profile::Profile*>& profiles, Comparison& comparison);

// Adds the functions from the traces instead; nothing if one of the runs has no trace. One pass over each trace.
base::Status compare_times(const std::vector<Input>& runs, Comparison& comparison);

Section lay_out(const Comparison& comparison);

}  // namespace fathom::analysis

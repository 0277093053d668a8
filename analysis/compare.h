// SPDX-License-Identifier: BSD-3-Clause
// Compares two runs, N scales, or two sets of repeats of a program: what grew, and by how much.
//
// The first run is the base. Runs of one program at one size may be repeats: some of the program as
// it was, the others as it is now. A side of the comparison is then a set of repeats, and its value
// their median.
//
//     growth            last / first; infinite if the first is 0, which is written as null
//     p                 of repeats: the probability that chance alone makes them differ so much
//                       (repeats.h), of each value by itself
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

#include "analysis/repeats.h"
#include "analysis/results/section.h"
#include "analysis/scope/input.h"
#include "base/result.h"
#include "profile/profile.h"
#include "profile/summary.h"

namespace fathom::analysis {

// How many runs, from the beginning and from the end, are repeats of what is compared.
struct Sides {
  std::size_t first = 1, last = 1;

  bool have_repeats() const { return first > 1 || last > 1; }
  bool can_differ() const { return analysis::can_differ(first, last); }
};

// A value of each run.
struct Change {
  std::vector<double> by_run;
  Repeats first, last;
  double growth = 1;
  double p = 1;

  double difference() const { return last.median - first.median; }
  bool is_significant() const { return p < kSignificant; }
};

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

// A quantity of the whole run: "seconds" (of the run), "mpi_seconds" and "waiting_seconds" (of the
// mean rank), "bytes", "messages".
struct ComparedTotal {
  std::string quantity;
  Change value;
};

struct ComparedFunction {
  std::string name;  // "(program)" is outside MPI
  Change seconds;    // of the mean rank
  std::optional<double> exponent;
};

struct ComparedCallSite {
  std::string function;     // "MPI_Wait"
  std::string place;        // "exchange (halo.c:88)", in the last run
  std::string first_place;  // the same in the first run; another line if the program was edited
  Change seconds;           // of the mean rank
};

struct ComparedPhase {
  std::string name;  // as the program names it
  Change seconds;    // in MPI, of the mean rank
};

struct ComparedWait {
  std::string function;                // of the calls that waited: "MPI_Wait"
  std::string place, first_place;      // as of ComparedCallSite
  std::int64_t rank = 0, awaited = 0;  // who waited for whom
  Change seconds;
};

struct ComparedPathPart {
  std::string function;
  std::string place, first_place;  // as of ComparedCallSite
  bool program = false;            // computing before the calls
  // Where most of the change is; -1 if no rank has more than half of it.
  std::int64_t rank = -1;
  Change seconds;  // on the critical path, over all ranks
};

struct Comparison {
  Sides sides;
  std::vector<ScalingRow> runs;
  std::vector<ComparedTotal> totals;   // those that all runs know
  std::vector<ComparedClass> classes;  // largest change in bytes first, then in messages
  // The same order; of the first run and the last. At most 64, only if all have the same ranks.
  std::vector<ComparedPair> pairs;
  std::vector<ComparedFunction>
      functions;  // largest change in seconds first; only if all runs have times of calls
  std::vector<ComparedCallSite> call_sites;  // the same; only from profiles with times
  std::vector<ComparedPhase> phases;         // the same
  // The same; waits only if all runs have the same ranks, and at most 64 of them.
  std::vector<ComparedWait> waits;
  std::vector<ComparedPathPart> path;
  std::optional<double> exponent_bytes, exponent_messages, exponent_seconds;
};

// An Error if there are fewer than two profiles or, with repeats, if a profile belongs to none or
// both of the sides, or they have different numbers of ranks.
base::Result<Comparison> compare_profiles(const std::vector<const profile::Profile*>& profiles,
                                          const std::vector<std::string>& names, Sides sides = {});

// Whether calls were timed: also if the program made none to time.
bool has_times(const profile::Profile& profile);

// Adds functions, call sites and phases from the times in the profiles, their waits, and the parts of
// their critical paths; of each nothing if one of the profiles does not have it. Which call sites are
// the same: compared_places.h.
void compare_calls(const std::vector<const profile::Profile*>& profiles, Comparison& comparison);

// Adds the functions from the traces instead; nothing if one of the runs has no trace. One pass over
// each trace.
base::Status compare_times(const std::vector<Input>& runs, Comparison& comparison);

// The most by which a quantity may grow: "MPI_Allreduce=5%".
struct Limit {
  std::string quantity;  // of a ComparedTotal, an MPI function, or "phase:NAME"
  double percent = 0;
};

base::Result<Limit> parse_limit(const std::string& text);

struct CheckedLimit {
  Limit limit;
  Change value;
  // The medians differ by more than the limit and, if the repeats are enough to tell, by more than
  // chance explains.
  bool is_exceeded = false;
};

// An Error if the quantity is not known in all runs; it says which are.
base::Result<CheckedLimit> check_limit(const Comparison& comparison, const Limit& limit);

// `limits`: those that were checked.
Section lay_out(const Comparison& comparison, const std::vector<CheckedLimit>& limits = {});

}  // namespace fathom::analysis

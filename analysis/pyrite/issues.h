// SPDX-License-Identifier: BSD-3-Clause
// Pyrite's analysis object (https://github.com/adrianjhpc/Pyrite, tools/mpi_data_parser.py): what
// it summarises, its ten kinds of issues and the five that it documents, with its thresholds and
// scores as defaults.
//
//   late-sender, late-receiver   waits longer than late_wait_seconds are late_share of the program's messages; 4 × share
//   late-broadcaster             the same of calls of collectives
//   early-reduce-arrival         members that enter that much before the root, likewise
//   barrier-arrival-skew         widest spread ≥ barrier_skew_seconds and barrier_skew_share of the run; 5 × that share
//   barrier-imbalance            one rank is last at barrier_last_share of the barriers; that share
//   completion-overhead          waits and tests are completion_share of the messages; half of that
//   the other eight              traffic_issues.h
//
// What differs, for it was wrong or could not be told from one time stamp a call: sends are joined
// with receives by MPI's own rule, waits are times that a call really waited (so a late sender is
// found behind MPI_Irecv and MPI_Wait, and a chain of delays blames each neighbour once), barriers
// are those of one communicator, and a late kind is an issue too if it takes wait_share of all
// time. Every issue names ranks, pairs, windows, and the seconds that it costs where they are
// known: waits, or the time in the calls it is about. Issues stand by seconds, not by score. A
// completion-overhead that costs less than a hundredth of the time of all ranks is no more than
// "info".
#pragma once

#include <vector>

#include "analysis/pyrite/issue_counts.h"
#include "analysis/results/analysis.h"
#include "analysis/traffic/patterns.h"
#include "analysis/waits/barrier_spread.h"

namespace fathom::analysis {

struct IssueReport {  // at analysis process 0
  IssueCounts counts;
  BarrierSpread barriers;
  std::vector<Pattern> patterns;
  std::vector<Finding> issues;  // most costly first
};

// Needs a trace and a profile. Collective over the transport.
base::Result<IssueReport> issue_report(const Input& input);

base::Result<Outcome> issues(const Input& input);

}  // namespace fathom::analysis

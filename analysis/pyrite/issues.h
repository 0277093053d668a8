// SPDX-License-Identifier: BSD-3-Clause
// Pyrite's analysis object (https://github.com/adrianjhpc/Pyrite, tools/mpi_data_parser.py): its
// summary, its ten kinds of issues and the five that it documents, with its thresholds and scores
// as defaults.
//
//   issue                condition                                                 score
//   late-sender,         waits longer than late_wait_seconds are late_share of     4 × share
//   late-receiver        the program's messages
//   late-broadcaster     the same for calls of collectives                         likewise
//   early-reduce-        members that enter that much before the root              likewise
//   arrival
//   barrier-arrival-     widest spread ≥ barrier_skew_seconds and                  5 × that share
//   skew                 barrier_skew_share of the run
//   barrier-imbalance    one rank is last at barrier_last_share of the barriers    that share
//   completion-overhead  waits and tests are completion_share of the messages      half of that
//   the other eight      see traffic_issues.h
//
// Differences, where Pyrite is wrong or one time stamp per call is not enough: sends are joined
// with receives by MPI's own rule; waits are times that a call really waited (so a late sender is
// found after MPI_Irecv and MPI_Wait, and a chain of delays blames each neighbour once); barriers
// belong to one communicator; and a late kind is also an issue if it takes wait_share of all time.
// Every issue names ranks, pairs, windows, and its cost in seconds if known: waits, or the time in
// the calls concerned. Issues are sorted by seconds, not by score. A completion-overhead that costs
// less than a hundredth of the time of all ranks is only "info".
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
  std::vector<Finding> issues;  // costliest first
};

// Needs a trace and a profile. Collective over the transport.
base::Result<IssueReport> issue_report(const Input& input);

base::Result<Outcome> issues(const Input& input);

}  // namespace fathom::analysis

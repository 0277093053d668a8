// SPDX-License-Identifier: BSD-3-Clause
// The thresholds for findings: their defaults, and how a user changes them.
//
// One member and one row each. Shares are fractions from 0 to 1.
#pragma once

#include <span>
#include <string>

#include "base/result.h"

namespace fathom::analysis {

struct Thresholds {
  double small_message_bytes = 1024;
  double small_message_share = 0.6;
  double small_message_overhead_share = 0.25;
  double few_messages = 1000;
  double few_bytes = 1e6;
  double few_ranks = 4;
  double rank_traffic_cv = 1.2;
  double communication_imbalance = 2;
  double root_share = 0.7;
  double link_share = 0.35;
  double synchronization_share = 0.3;
  double global_collective_share = 0.5;
  double collective_byte_share = 0.1;
  double dense_pairs = 0.5;
  double sparse_pairs = 0.1;
  double density_ranks = 8;
  double pattern_share = 0.25;
  double pattern_present = 0.95;
  double wait_share = 0.01;
  double late_wait_seconds = 0.001;
  double late_share = 0.05;
  double barrier_skew_seconds = 0.001;
  double barrier_skew_share = 0.01;
  double barrier_last_share = 0.5;
  double few_barriers = 5;
  double completion_share = 1;
  double load_balance = 0.8;
  double phase_iterations = 3;
  double phase_share = 0.001;
  double phases_kept = 64;
  double lateness_events = 10000;
  double path_stretches = 0;
  double lateness_complete_leaps = 0;
  double transfer_messages = 10000;
};

struct ThresholdRow {
  const char* name;
  double Thresholds::*member;
  const char* help;
};

std::span<const ThresholdRow> threshold_rows();

// "link_share=0.5". An Error lists the known thresholds.
base::Status set_threshold(Thresholds& thresholds, const std::string& assignment);

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/scope/thresholds.h"

#include <charconv>
#include <cmath>

#include "base/named_rows.h"

namespace fathom::analysis {
namespace {

// A table, so that --set, --list and the documents cannot know different thresholds.
constexpr ThresholdRow kThresholdRows[] = {
    {"small_message_bytes", &Thresholds::small_message_bytes,
     "messages smaller than this, in bytes, are small"},
    {"small_message_share", &Thresholds::small_message_share,
     "small-message-pressure: share of the messages that are small"},
    {"small_message_overhead_share", &Thresholds::small_message_overhead_share,
     "small-message-overhead: share of the bytes that small messages carry"},
    {"few_messages", &Thresholds::few_messages, "fewer messages give no finding about messages"},
    {"few_bytes", &Thresholds::few_bytes, "fewer bytes give no finding about bytes"},
    {"few_ranks", &Thresholds::few_ranks,
     "fewer ranks give no finding about hot spots: two ranks share every byte"},
    {"rank_traffic_cv", &Thresholds::rank_traffic_cv,
     "rank-traffic-imbalance: standard deviation over mean of each rank's bytes"},
    {"communication_imbalance", &Thresholds::communication_imbalance,
     "communication-imbalance: bytes of the busiest sender or receiver over the mean"},
    {"root_share", &Thresholds::root_share,
     "collective-root-bottleneck: share of a collective's calls with the same root"},
    {"link_share", &Thresholds::link_share, "link-hotspot: share of all bytes on one pair"},
    {"synchronization_share", &Thresholds::synchronization_share,
     "synchronization-heavy: share of the messages sent in barriers"},
    {"global_collective_share", &Thresholds::global_collective_share,
     "global-collective-heavy: share of the bytes in collectives of all ranks"},
    {"collective_byte_share", &Thresholds::collective_byte_share,
     "collective-root-bottleneck: and the collective's share of all bytes"},
    {"dense_pairs", &Thresholds::dense_pairs,
     "pattern dense: share of the pairs of ranks that communicate, at least"},
    {"sparse_pairs", &Thresholds::sparse_pairs,
     "pattern sparse: share of the pairs of ranks that communicate, at most"},
    {"density_ranks", &Thresholds::density_ranks,
     "patterns dense and sparse: number of ranks, at least"},
    {"pattern_share", &Thresholds::pattern_share,
     "patterns: share of a class's traffic that a pattern must explain"},
    {"pattern_present", &Thresholds::pattern_present,
     "patterns: share of a pattern's pairs that must communicate"},
    {"wait_share", &Thresholds::wait_share,
     "wait-states: share of the time of all ranks that a finding must cost"},
    {"late_wait_seconds", &Thresholds::late_wait_seconds,
     "issues late-*, early-*: shorter waits, in seconds, do not count"},
    {"late_share", &Thresholds::late_share,
     "issues late-*, early-*: share of the messages, or of calls of collectives"},
    {"barrier_skew_seconds", &Thresholds::barrier_skew_seconds,
     "issue barrier-arrival-skew: widest spread, in seconds, at least"},
    {"barrier_skew_share", &Thresholds::barrier_skew_share,
     "issue barrier-arrival-skew: and its share of the run time"},
    {"barrier_last_share", &Thresholds::barrier_last_share,
     "issue barrier-imbalance: share of the barriers at which one rank is last"},
    {"few_barriers", &Thresholds::few_barriers,
     "issue barrier-imbalance: fewer barriers give no finding"},
    {"completion_share", &Thresholds::completion_share,
     "issue completion-overhead: waits and tests per message"},
    {"phase_iterations", &Thresholds::phase_iterations,
     "phases: number of iterations of a loop, at least"},
    {"phase_share", &Thresholds::phase_share,
     "phases: share of a rank's time that a loop must take, if there are more than phases_kept"},
    {"phases_kept", &Thresholds::phases_kept,
     "phases: number of a rank's longest loops to keep, however short they are"},
    {"load_balance", &Thresholds::load_balance,
     "load-imbalance: mean over maximum computing time of the ranks, below this"},
    {"path_stretches", &Thresholds::path_stretches,
     "critical-path: number of its last calls and stretches of work to list"},
    {"lateness_events", &Thresholds::lateness_events, "lateness: number of events in the table"},
    {"lateness_complete_leaps", &Thresholds::lateness_complete_leaps,
     "lateness: 1 completes leaps, which suits bulk-synchronous programs; 2 by force"},
    {"transfer_messages", &Thresholds::transfer_messages,
     "transfers: number of ends of messages in the table, roughly"},
};

}  // namespace

std::span<const ThresholdRow> threshold_rows() { return kThresholdRows; }

base::Status set_threshold(Thresholds& thresholds, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string name = assignment.substr(0, equals);
  const auto row = base::find_row(threshold_rows(), "threshold", name);
  if (!row) return row.error();
  const std::string number = equals == std::string::npos ? "" : assignment.substr(equals + 1);
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  // !(value >= 0) also rejects NaN, which from_chars accepts.
  if (error != std::errc() || end != number.data() + number.size() || !(value >= 0) ||
      std::isinf(value)) {
    return base::Error{"threshold '" + assignment + "' needs a number of 0 or more: " + name +
                       "=NUMBER"};
  }
  thresholds.*(*row)->member = value;
  return base::Done{};
}

}  // namespace fathom::analysis

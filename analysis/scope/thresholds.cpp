// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/scope/thresholds.h"

#include <charconv>
#include <cmath>

#include "base/named_rows.h"

namespace fathom::analysis {
namespace {

constexpr ThresholdRow kRows[] = {
    {"small_message_bytes", &Thresholds::small_message_bytes, "messages below this are small"},
    {"small_message_share", &Thresholds::small_message_share,
     "small-message-pressure: of the messages"},
    {"small_message_overhead_share", &Thresholds::small_message_overhead_share,
     "small-message-overhead: of the bytes, in small messages"},
    {"few_messages", &Thresholds::few_messages, "fewer are no finding, whatever their shares"},
    {"few_bytes", &Thresholds::few_bytes, "fewer are no finding about bytes"},
    {"few_ranks", &Thresholds::few_ranks,
     "with fewer ranks nothing is a hot spot: it cannot be otherwise"},
    {"rank_traffic_cv", &Thresholds::rank_traffic_cv,
     "rank-traffic-imbalance: standard deviation over mean of bytes in and out"},
    {"communication_imbalance", &Thresholds::communication_imbalance,
     "communication-imbalance: bytes of the busiest sender or receiver over the mean"},
    {"root_share", &Thresholds::root_share,
     "collective-root-bottleneck: of the rooted collectives, at one rank"},
    {"link_share", &Thresholds::link_share, "link-hotspot: of all bytes, on one pair"},
    {"synchronization_share", &Thresholds::synchronization_share,
     "synchronization-heavy: of the messages, in barriers"},
    {"global_collective_share", &Thresholds::global_collective_share,
     "global-collective-heavy: of bytes or messages, in collectives of all ranks"},
    {"collective_byte_share", &Thresholds::collective_byte_share,
     "rooted collectives with a smaller part of all bytes are no bottleneck"},
    {"dense_pairs", &Thresholds::dense_pairs, "pattern dense: of the pairs of ranks, that talked"},
    {"sparse_pairs", &Thresholds::sparse_pairs, "pattern sparse: no more of the pairs than this"},
    {"density_ranks", &Thresholds::density_ranks,
     "dense and sparse are said of so many ranks at least"},
    {"pattern_share", &Thresholds::pattern_share,
     "of a class's traffic, that a pattern has to explain"},
    {"pattern_present", &Thresholds::pattern_present, "of a pattern's pairs, that have to talk"},
    {"wait_share", &Thresholds::wait_share,
     "wait states: of the time of all processes; less is no finding"},
    {"late_wait_seconds", &Thresholds::late_wait_seconds,
     "issues late-*, early-*: only what is later than this counts"},
    {"late_share", &Thresholds::late_share,
     "issues late-*, early-*: of the messages, or calls of collectives"},
    {"barrier_skew_seconds", &Thresholds::barrier_skew_seconds,
     "issue barrier-arrival-skew: the widest spread, this or more"},
    {"barrier_skew_share", &Thresholds::barrier_skew_share,
     "issue barrier-arrival-skew: and of the run time"},
    {"barrier_last_share", &Thresholds::barrier_last_share,
     "issue barrier-imbalance: of the barriers, to which one rank is last"},
    {"few_barriers", &Thresholds::few_barriers, "issue barrier-imbalance: fewer barriers are none"},
    {"completion_share", &Thresholds::completion_share,
     "issue completion-overhead: waits and tests over messages"},
    {"phase_iterations", &Thresholds::phase_iterations,
     "phases: a loop with fewer iterations is none"},
    {"phase_share", &Thresholds::phase_share, "phases: of a rank's time, that a loop has to take"},
    {"load_balance", &Thresholds::load_balance,
     "load-imbalance: mean over most computing of the ranks, below this"},
    {"path_stretches", &Thresholds::path_stretches,
     "critical-path: the last so many calls and stretches of work on it, in order"},
    {"lateness_events", &Thresholds::lateness_events,
     "lateness: so many events stand in the table"},
    {"lateness_complete_leaps", &Thresholds::lateness_complete_leaps,
     "lateness: 1 completes leaps, as fits bulk-synchronous programs; 2 by force"},
    {"transfer_messages", &Thresholds::transfer_messages,
     "transfers: about so many ends of messages stand in the table"},
};

}  // namespace

std::span<const ThresholdRow> threshold_rows() { return kRows; }

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

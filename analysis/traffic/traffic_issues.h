// SPDX-License-Identifier: BSD-3-Clause
// What the traffic alone says may cost time. A profile has no times: findings have no seconds, only
// shares.
//
//   small-message-pressure      messages below small_message_bytes are small_message_share of those with data
//   small-message-overhead      and carry small_message_overhead_share of the bytes
//   rank-traffic-imbalance      standard deviation over mean of bytes in and out by rank
//   communication-imbalance     the busiest sender (or receiver) over the mean, where the former is not found
//   collective-root-bottleneck  a rooted collective with one root, and enough of the bytes
//   link-hotspot                one pair of ranks has link_share of the bytes
//   synchronization-heavy       barriers have synchronization_share of the messages
//   global-collective-heavy     collectives of all ranks have global_collective_share of the bytes
//
// Thresholds and scores are those of Pyrite (mpi_data_parser.py) where it has the issue. What
// differs: with fewer than few_ranks ranks nobody is a hot spot or out of balance, because two
// ranks share every byte; few messages or bytes are no finding; and small messages are worse than
// "info" only where they could take a hundredth of the run at a microsecond each.
#pragma once

#include <vector>

#include "analysis/results/analysis.h"

namespace fathom::analysis {

base::Result<Outcome> traffic_issues(const Input& input);

}  // namespace fathom::analysis

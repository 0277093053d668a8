// SPDX-License-Identifier: BSD-3-Clause
// Issues that follow from the traffic alone. A profile has no times, so findings have shares but no
// seconds.
//
//   small-message-pressure      messages below small_message_bytes are small_message_share of those
//                               with data
//   small-message-overhead      and carry small_message_overhead_share of the bytes
//   rank-traffic-imbalance      standard deviation over mean of bytes in and out, by rank
//   communication-imbalance     busiest sender (or receiver) over the mean, if the former is absent
//   collective-root-bottleneck  a rooted collective with one root, and enough of the bytes
//   link-hotspot                one pair of ranks has link_share of the bytes
//   synchronization-heavy       barriers have synchronization_share of the messages
//   global-collective-heavy     collectives of all ranks have global_collective_share of the bytes
//
// Thresholds and scores are Pyrite's (mpi_data_parser.py) if it has the issue. Differences: with
// fewer than few_ranks ranks there are no hot spots or imbalances, because two ranks share every
// byte; few messages or bytes are no finding; and small messages are worse than "info" only if they
// could take a hundredth of the run at a microsecond each.
#pragma once

#include <vector>

#include "analysis/results/analysis.h"

namespace fathom::analysis {

base::Result<Outcome> traffic_issues(const Input& input);

}  // namespace fathom::analysis

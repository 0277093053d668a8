// SPDX-License-Identifier: BSD-3-Clause
// What a job did between two samples of its state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "live/job_state.h"

namespace fathom::cli {

// One rank's or one pair's share; rates are per second, and 0 where there is one sample only.
struct RankActivity {
  const live::RankState* state = nullptr;
  double mpi_share = 0;   // of the time between the samples; of the whole run without the first
  double wait_share = 0;  // likewise
  double sent_per_s = 0, received_per_s = 0;  // bytes
  std::uint64_t backlog = 0;                  // messages sent to it that it has not received
};

struct PairActivity {
  const live::PairState* state = nullptr;
  double bytes_per_s = 0, messages_per_s = 0;
  std::uint64_t backlog = 0;  // messages that the sender has counted and the receiver has not
  std::uint64_t backlog_bytes = 0;
};

enum class RankOrder { kWaiting, kMpi, kTraffic, kRank };

struct JobChange {
  double seconds = 0;  // between the samples; 0: there is one only
  double mpi_share = 0;
  double bytes_per_s = 0, messages_per_s = 0;
  std::uint64_t bytes = 0, messages = 0;    // sent, in all
  std::uint64_t backlog = 0;                // messages
  std::optional<std::uint64_t> unexpected;  // of the ranks of which it is known
  std::vector<RankActivity> ranks;
  std::vector<PairActivity> pairs;  // in the order of the state

  // Both states must outlive the result. `kind`: only pairs of this class; empty: all.
  JobChange(const live::JobState& now, const live::JobState& earlier, const std::string& kind);

  void sort(RankOrder order);

  // At most `most` pairs (of this rank, if one is given): most bytes per second first, then most bytes.
  std::vector<const PairActivity*> busiest(std::size_t most, std::optional<std::int32_t> of) const;
};

}  // namespace fathom::cli

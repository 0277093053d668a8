// SPDX-License-Identifier: BSD-3-Clause
// One process of a job at one moment, as the host that it runs on sees it; and the job that these add
// up to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "live/job_state.h"
#include "live/page_copy.h"
#include "live/queue_lengths.h"

namespace fathom::live {

// What takes the place of the details in a summary: over all peers and calls.
struct ProcessSums {
  std::uint64_t sent = 0, sent_bytes = 0, received = 0, received_bytes = 0;
  double mpi_s = 0;
};

struct ProcessSample {
  std::string host;
  std::int64_t pid = 0;
  ProcessState state = ProcessState::kRunning;
  double processor_s = 0;
  std::int64_t taken_unix_ns = 0;
  std::uint64_t clock_ns = 0;  // CLOCK_MONOTONIC_COARSE of its host at that moment
  double age_s = 0;
  std::uint64_t samples_lost = 0;
  PageCopy page;
  std::vector<std::string> places;  // of page.threads
  QueueLengths queues;
  // In a summary, the page has threads and communicators alone: no counts by peer, call or channel.
  bool is_summary = false;
  ProcessSums sums;
};

// A large job's hosts send these while nobody looks at the details (live/wire.h).
ProcessSample summary_of(const ProcessSample& sample);

// `run` and `taken_at_s` are left to the caller. If several processes say that they are the same
// rank, the one that began last is it.
JobState job_state_of(const std::vector<const ProcessSample*>& samples);
JobState job_state_of(const std::vector<ProcessSample>& samples);

}  // namespace fathom::live

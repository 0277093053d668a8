// SPDX-License-Identifier: BSD-3-Clause
// Watches a run's processes on this host for others: keeps their pages, so that their counts survive
// them, and passes a sample of them on once a second.
//
// `fathom watch-host` and the sampler that a rank starts (live/sampler/) do nothing else. The counts of a
// process that was killed are in RUN/partial at once. A full disk costs the samples; nothing else.
// Threading: one thread.
#pragma once

#include <string>

#include "live/announcements.h"

namespace fathom::live {

enum class WatchEnd {
  kRanksEnded,
  kNobodyCame,  // there was no process of the run for a minute
  kTold,
};

// `told`: a descriptor that becomes readable when the watch is to end; -1: it never is.
WatchEnd watch_host(const std::string& run, Announcements announcements, int told);

}  // namespace fathom::live

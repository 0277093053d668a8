// SPDX-License-Identifier: BSD-3-Clause
// Records of a run's trace that are not in its files: one entry for each reason, over all ranks.
//
// A process tells it in its rows as "trace-lost REASON RECORDS ERROR" (profile/rows.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::profile {

struct TraceLoss {
  // "memory": they found no room to be recorded into. "size": the file had the size it was allowed.
  // "unwritten": the file system took no more. "no-trace": the rank could not even make its files.
  std::string reason;
  std::string error;  // the system's word for it, for the last two: "No space left on device"
  std::int64_t ranks = 0;
  std::uint64_t records = 0;  // 0 for "no-trace": nobody knows how many there were
};

// The file system was in the way, not the settings.
bool is_about_files(const TraceLoss& loss);

// Adds what one process lost: "REASON RECORDS ERROR". Damaged text is left out.
void add_trace_loss(const std::string& text, std::vector<TraceLoss>& losses);

// What is missing from `trace` ("the trace in /scratch/r1/trace"), and what to do about it.
std::string sentence(const TraceLoss& loss, const std::string& trace);

}  // namespace fathom::profile

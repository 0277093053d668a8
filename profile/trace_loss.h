// SPDX-License-Identifier: BSD-3-Clause
// Records of a run's trace that are missing from its files: one entry per reason, over all ranks.
//
// A process reports it in its rows as "trace-lost REASON RECORDS ERROR" (profile/rows.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::profile {

struct TraceLoss {
  // "memory": no memory was free to record into. "size": the file had reached its allowed size.
  // "unwritten": the file system took no more. "no-trace": the rank could not even make its files.
  std::string reason;
  std::string error;  // the system's message, for the last two: "No space left on device"
  std::int64_t ranks = 0;
  std::uint64_t records = 0;  // 0 for "no-trace": the number is unknown
};

// Whether the file system was the cause, rather than the settings.
bool is_about_files(const TraceLoss& loss);

// Adds one process's loss, "REASON RECORDS ERROR". Ignores damaged text.
void add_trace_loss(const std::string& text, std::vector<TraceLoss>& losses);

// What is missing from `trace` ("the trace in /scratch/r1/trace"), and what to do about it.
std::string sentence(const TraceLoss& loss, const std::string& trace);

}  // namespace fathom::profile

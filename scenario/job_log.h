// SPDX-License-Identifier: BSD-3-Clause
// Job logs in the Standard Workload Format (D. Feitelson et al., Parallel Workloads Archive,
// version 2.2): one job per line, 18 numbers separated by blanks, -1 for unknown; lines that begin
// with ';' are comments. The fields used are
//
//     2 submit time (s) · 4 run time (s) · 5 processors used · 8 processors requested ·
//     9 time requested
//
// Processors requested take precedence over processors used. If no time was requested, the run time
// is used. A log may be compressed (gzip, bzip2, xz, zstd), as the archive offers them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::scenario {

struct LoggedJob {
  double submit_s = 0, duration_s = 0, request_s = 0;
  std::int64_t ranks = 0;
};

// In the order of the log. Jobs that never ran (no processors or no run time: cancelled) are left
// out. An Error names file and line.
base::Result<std::vector<LoggedJob>> read_job_log(const std::string& path);

}  // namespace fathom::scenario

// SPDX-License-Identifier: BSD-3-Clause
// The state of a job as OpenMetrics text (the format of https://openmetrics.io, version 1.0.0), which
// Prometheus reads.
//
// Cardinality is bounded: per rank only for jobs of at most kMostRanks ranks, per function at most one series
// each, per pair none. Labels are escaped as the format asks.
#pragma once

#include <cstddef>
#include <string>

#include "live/job_state.h"
#include "live/verdict/verdict.h"

namespace fathom::cli {

inline constexpr std::size_t kMostRanksInMetrics = 1024;
inline constexpr char kOpenMetricsType[] =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

// Ends with "# EOF".
std::string open_metrics(const live::JobState& now, const live::JobState& earlier,
                         const live::Verdict& verdict);

}  // namespace fathom::cli

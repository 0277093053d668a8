// SPDX-License-Identifier: BSD-3-Clause
// Pyrite's analysis object (tools/mpi_data_parser.py) as JSON: what its viewer reads from the
// header of a .mpix file.
//
//   {"summary": {…}, "per_rank": [{…}],
//    "top_ranks_by_out_bytes": [{"rank", "bytes", "messages"}],
//    "top_ranks_by_in_bytes": […], "top_ranks_by_touch_bytes": [{"rank", "bytes"}],
//    "top_links": [{"comm", "sender", "receiver", "messages", "bytes",
//                   "calls": {name: messages}, "first_time", "last_time"}],
//    "collective_roots": [{"root", "events", "bytes", "calls": {name: calls}}],
//    "barrier_spreads": [{"barrier_index", "t_min", "t_max", "spread", "comm"}],
//    "time_windows": [{"t_start", "t_end", "events", "canonical_transfer_events", …}],
//    "patterns": [{"type", "description", "strength", "ranks", "pairs", "metrics": {…}}],
//    "issues": [{"type", "severity", "score", "description", "ranks", "pairs", "windows",
//                "metrics": {"seconds", …}}]}
//
// Names are Pyrite's; types of issues have underscores. Pairs are [source, destination], times are
// seconds. analysis/pyrite/issues.h explains the numbers that differ from Pyrite's. Issues are
// sorted by the seconds that they cost, which are null where unknown.
#pragma once

#include "base/json/writer.h"
#include "exporters/trace/trace_exporter.h"

namespace fathom::analysis {
struct IssueReport;
}

namespace fathom::exporters {

// The object as one value, for documents that hold it.
void write_pyrite_object(const analysis::IssueReport& report, const trace::Definitions& definitions,
                         base::JsonWriter& json);

base::Status export_pyrite(const trace::Trace& trace, const TraceOptions& options,
                           const std::string& path, Notes& notes);

}  // namespace fathom::exporters

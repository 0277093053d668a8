// SPDX-License-Identifier: BSD-3-Clause
// Chrome's trace event JSON, which Perfetto, chrome://tracing and Speedscope read. For large traces
// take `perfetto`: viewers hold the whole of a JSON file in memory.
//
//   {"displayTimeUnit":"ns","traceEvents":[ one event a line ]}
//
// A process for each rank, a thread for each thread; calls are B and E with their attributes,
// message arrows s and f, each message is an async slice b and e of its receiver, phases are async
// slices too. Times are microseconds with three decimals. Not held: steps inside a transfer, call
// sites' code segments.
#pragma once

#include "exporters/trace/trace_exporter.h"

namespace fathom::exporters {

base::Status export_chrome(const trace::Trace& trace, const TraceOptions& options,
                           const std::string& path, Notes& notes);

}  // namespace fathom::exporters

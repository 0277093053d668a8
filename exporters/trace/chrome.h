// SPDX-License-Identifier: BSD-3-Clause
// Chrome's trace event JSON, which Perfetto, chrome://tracing and Speedscope read. For large traces
// prefer `perfetto`: viewers hold a JSON file in memory as a whole.
//
//   {"displayTimeUnit":"ns","traceEvents":[ one event per line ]}
//
// Each rank is a process and each thread a thread. Calls are B and E with their attributes; message
// arrows are s and f; each message is also an async slice, b and e, of its receiver; phases are
// async slices too. Times are microseconds with three decimals. Left out: steps inside a transfer,
// code segments of call sites.
#pragma once

#include "exporters/trace/trace_exporter.h"

namespace fathom::exporters {

base::Status export_chrome(const trace::Trace& trace, const TraceOptions& options,
                           const std::string& path, Notes& notes);

}  // namespace fathom::exporters

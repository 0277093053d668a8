// SPDX-License-Identifier: BSD-3-Clause
// speedscope's file format (https://www.speedscope.app/file-format-schema.json): who calls MPI, and
// for how long. One evented profile for each thread of each rank, all over the same span of time.
//
// A stack is, from the outside in: the phases of the program, the place in the program that called
// MPI (where call sites were recorded), the MPI function, and MPI functions that it called in turn.
// Times are nanoseconds since the trace's first moment.
//
// The format requires that what is opened last is closed first. Where a trace is damaged, frames
// inside a frame that ends are closed with it.
#pragma once

#include "exporters/trace/trace_exporter.h"

namespace fathom::exporters {

base::Status export_speedscope(const trace::Trace& trace, const TraceOptions& options,
                               const std::string& path, Notes& notes);

}  // namespace fathom::exporters

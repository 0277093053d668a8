// SPDX-License-Identifier: BSD-3-Clause
// Paraver: PATH (.prv), and beside it .pcf (names) and .row (labels).
//
//   #Paraver (dd/mm/yyyy at hh:mm):LAST_ns:NODES(CPUS,…):1:TASKS(THREADS:NODE,…),COMMUNICATORS
//   c:1:COMMUNICATOR:SIZE:TASK:TASK…
//   1:cpu:1:task:thread:begin:end:state        the calls, by what they are
//   2:cpu:1:task:thread:time:type:value        type 5000000N by group, value: the function, 0 at its end
//   3:cpu:1:task:thread:lsend:psend:cpu:1:task:thread:lrecv:precv:size:tag
//
// task = rank + 1, thread and cpu from 1. A message's logical times are those of the calls that
// send and receive it, its physical ones those of the transfer. Values of functions that Extrae
// knows are Extrae's, so that its configurations work. Lines are in order of time.
#pragma once

#include "exporters/trace/trace_exporter.h"

namespace fathom::exporters {

base::Status export_paraver(const trace::Trace& trace, const TraceOptions& options,
                            const std::string& path, Notes& notes);

}  // namespace fathom::exporters

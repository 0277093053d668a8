// SPDX-License-Identifier: BSD-3-Clause
// Paraver: PATH (.prv), with .pcf (names) and .row (labels) beside it.
//
//   #Paraver (dd/mm/yyyy at hh:mm):LAST_ns:NODES(CPUS,…):1:TASKS(THREADS:NODE,…),COMMUNICATORS
//   c:1:COMMUNICATOR:SIZE:TASK:TASK…
//   1:cpu:1:task:thread:begin:end:state        a call, by its kind
//   2:cpu:1:task:thread:time:type:value        type 5000000N by group; value: function (0: end)
//   3:cpu:1:task:thread:lsend:psend:cpu:1:task:thread:lrecv:precv:size:tag
//
// task = rank + 1; threads and cpus count from 1. A message's logical times are those of the calls
// that send and receive it, its physical times those of the transfer. Functions that Extrae knows
// have Extrae's values, so that its configurations work. Lines are in order of time.
#pragma once

#include "exporters/trace/trace_exporter.h"

namespace fathom::exporters {

base::Status export_paraver(const trace::Trace& trace, const TraceOptions& options,
                            const std::string& path, Notes& notes);

}  // namespace fathom::exporters

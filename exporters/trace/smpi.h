// SPDX-License-Identifier: BSD-3-Clause
// SimGrid's time-independent traces, into a folder: `smpirun -np N -replay PATH/trace.txt …`.
//
//   PATH/trace.txt    one line for each rank: the path of its file
//   PATH/RANK.txt     RANK init · RANK sleep SECONDS · RANK send|isend|recv|irecv PEER TAG BYTES ·
//                     RANK wait SOURCE DESTINATION TAG · RANK finalize
//
// Collectives appear as the messages that the library actually sent: their receives are posted when
// the collective begins, sends never block, and each receive is waited for where it completed. The
// time between two calls is slept. SimGrid's format has no communicators, so tags carry them
// (FlatTags); lengths are bytes.
#pragma once

#include "exporters/trace/trace_exporter.h"

namespace fathom::exporters {

base::Status export_smpi(const trace::Trace& trace, const TraceOptions& options,
                         const std::string& path, Notes& notes);

}  // namespace fathom::exporters

// SPDX-License-Identifier: BSD-3-Clause
// SimGrid's time-independent traces, into a folder: `smpirun -np N -replay PATH/trace.txt …`.
//
//   PATH/trace.txt    one line for each rank: the path of its file
//   PATH/RANK.txt     RANK init · RANK sleep SECONDS · RANK send|isend|recv|irecv PEER TAG BYTES ·
//                     RANK wait SOURCE DESTINATION TAG · RANK finalize
//
// Collectives appear as the messages that the library actually sent: their receives are posted when
// the collective begins, and sends never block. Waits stand where the replay has them
// (trace/join/operations.h): a receive is waited for before the library's next send, if that may
// have needed it (received_inside.h), or at the end of the collective; what a non-blocking one sent,
// at the end of the trace, for which 8 bytes are kept. The time between two calls is slept; what
// several threads of a rank computed is slept one after the other. SimGrid's format has no
// communicators, so tags carry them (FlatTags); lengths are bytes.
#pragma once

#include "exporters/trace/trace_exporter.h"

namespace fathom::exporters {

base::Status export_smpi(const trace::Trace& trace, const TraceOptions& options,
                         const std::string& path, Notes& notes);

}  // namespace fathom::exporters

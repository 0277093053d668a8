// SPDX-License-Identifier: BSD-3-Clause
// OTF2, through libotf2: for Vampir, Pipit, Scalasca's tools and everything else that reads OTF2.
//
// One location per thread. Each call is Enter and Leave with all its attributes ("fathom::peer",
// …), so nothing of it is lost. Messages:
//   the program's, blocking       MpiSend, MpiRecv where they happened
//   the program's, non-blocking   MpiIsend, MpiIsendComplete; MpiIrecvRequest, and MpiIrecv at the
//                                 wait or test (with fathom::uncompleted: where the request was
//                                 freed, or at the end)
//   the library's own             MpiSend, MpiRecv on a twin of the communicator, one per class,
//                                 named "COMMUNICATOR [MPI_Bcast, hidden]", so that tools that
//                                 match messages by communicator, ranks and tag never mix them
//                                 with the program's
//   collectives                   MpiCollectiveBegin, MpiCollectiveEnd;
//                                 NonBlockingCollectiveRequest, …Complete
//   one-sided calls               RmaWinCreate, RmaPut, RmaGet, RmaAtomic, RmaWinDestroy; messages
//                                 that carry them (osc/pt2pt) are the library's own
// Parameter events hold what OTF2 has no record for (steps of a transfer, the unexpected queue,
// loss, phases, …). Left out: code segments (call sites keep function, file and line), clocks,
// how often a communicator was made.
#pragma once

#include "exporters/trace/trace_exporter.h"

namespace fathom::exporters {

base::Status export_otf2(const trace::Trace& trace, const TraceOptions& options,
                         const std::string& path, Notes& notes);

}  // namespace fathom::exporters

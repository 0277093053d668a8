// SPDX-License-Identifier: BSD-3-Clause
// A SQLite database of a trace, for queries in SQL (pandas.read_sql, sqlite3, DBeaver).
//
//   process(rank, host, pid, affinity, complete, lost_records)
//   function(id, name, grp)
//   communicator(id, name, made_by, parent)
//   member(communicator, comm_rank, rank)
//   call(rank, thread, begin_ns, end_ns, function, depth, communicator, peer, tag, bytes, root,
//        peer2, tag2, bytes2, count, newcomm, flag, request, object, offset, error, site)
//   sent(id, rank, thread, ns, class, hidden, communicator, peer, tag, bytes, request)
//   received: the same as sent
//   site(rank, address, function, file, line, module, place)   call sites: where call.site is in the
//        program; place is the address in the module itself
//   event(kind, rank, thread, ns, code, request, communicator, peer, tag, count)   everything else
//   view message: messages whose two ends are known, joined by id
//   view calls: call with the function's name, and where it was made: caller, file, line
//   indices on call (function; time; site), sent and received (pair of ranks), event (kind)
//
// Fields without a value are NULL.
#pragma once

#include "exporters/trace/trace_exporter.h"

namespace fathom::exporters {

base::Status export_sqlite(const trace::Trace& trace, const TraceOptions& options,
                           const std::string& path, Notes& notes);

}  // namespace fathom::exporters

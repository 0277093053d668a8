// SPDX-License-Identifier: BSD-3-Clause
// CSV (RFC 4180, LF line ends) of a trace: one line for each call, each end of a message and each
// other event, in the order in which calls end and the others happen, all ranks merged by time.
//
//   kind,rank,thread,begin_ns,end_ns,name,depth,communicator,peer,tag,bytes,root,peer2,tag2,bytes2,
//   count,newcomm,flag,request,object,offset,error,message,hidden,site      (one line in the file)
//   call,0,0,1000,1500,MPI_Send,0,0,1,7,8,,,,,,,,,,,0,,,
//   sent,0,0,1200,1200,point-to-point,0,0,1,7,8,,,,,,,,,,,,1,0,
//
// `message` is the same number at both ends of a message. Fields without a value are empty.
#pragma once

#include "exporters/trace/trace_exporter.h"

namespace fathom::exporters {

base::Status export_trace_csv(const trace::Trace& trace, const TraceOptions& options,
                              const std::string& path, Notes& notes);

}  // namespace fathom::exporters

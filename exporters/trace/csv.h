// SPDX-License-Identifier: BSD-3-Clause
// CSV (RFC 4180, LF line ends) of a trace: one line a call, an end of a message, or another event,
// in the order in which calls end and the rest happens, all ranks merged by time.
//
//   kind,rank,thread,begin_ns,end_ns,name,depth,communicator,peer,tag,bytes,root,peer2,tag2,bytes2,count,
//   newcomm,flag,request,object,offset,error,message,hidden,site
//   call,0,0,1000,1500,MPI_Send,0,0,1,7,8,,,,,,,,,,,0,,,
//   sent,0,0,1200,1200,point-to-point,0,0,1,7,8,,,,,,,,,,,,1,0,
//
// `message` is the same number at both ends of a message. A field that says nothing is empty.
#pragma once

#include "exporters/trace/trace_exporter.h"

namespace fathom::exporters {

base::Status export_trace_csv(const trace::Trace& trace, const TraceOptions& options,
                              const std::string& path, Notes& notes);

}  // namespace fathom::exporters

// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/calls/timed_call.h"

namespace fathom::profiler {

void TimedCall::leave_slowly(std::uint32_t communicator, std::uint64_t bytes) {
  const CallTimes::Rows* rows = CallTimes::find_rows(function_, site_, communicator);
  if (rows == nullptr) return WaitLog::not_timed();
  rows->add(bytes, left_ - entered_);
  if (WaitLog::on()) WaitLog::left(left_, rows->row(), bytes);
}

SeldomTimedCall::SeldomTimedCall(const Caller& caller, std::uint32_t function, const char* name)
    : TimedCall(caller, function, name) {}
SeldomTimedCall::SeldomTimedCall(std::uint32_t function, const void* site)
    : TimedCall(function, site) {}
SeldomTimedCall::~SeldomTimedCall() = default;

void SeldomTimedCall::returned(std::uint64_t ticks) { TimedCall::returned(ticks); }

void SeldomTimedCall::leave(std::uint32_t communicator, std::uint64_t bytes) {
  TimedCall::leave(communicator, bytes);
}

void SeldomTimedCall::leave_collective(std::uint32_t communicator, std::uint64_t bytes, int root,
                                       void* request) {
  TimedCall::leave_collective(communicator, bytes, root, request);
}

}  // namespace fathom::profiler

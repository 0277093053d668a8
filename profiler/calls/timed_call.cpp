// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/calls/timed_call.h"

namespace fathom::profiler {

void TimedCall::leave_slowly(std::uint32_t communicator, std::uint64_t bytes) {
  const CallTimes::Rows* rows = CallTimes::find_rows(function_, site_, communicator);
  if (rows == nullptr) return WaitLog::not_timed();
  rows->add(bytes, left_ - entered_);
  if (WaitLog::on()) WaitLog::left(left_, rows->row(), bytes);
}

}  // namespace fathom::profiler

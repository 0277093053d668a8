// SPDX-License-Identifier: BSD-3-Clause
// One MPI call of the program, timed, as the generated wrappers use it:
//
//   TimedCall timed(caller, kFunction_MPI_Send, "MPI_Send");
//   const int result = next(…);
//   timed.returned();
//   if (timed.on()) timed.leave(communicator(comm), bytes(count, datatype));
//
// Two readings of the clock and an addition to a row. Calls that the MPI library makes for itself,
// and calls inside another call, are not timed: their time belongs to the call around them.
//
// Hot: what every short call does is inlined into its wrapper and saves no register; a place in the
// program that was not seen lately takes leave_slowly().
#pragma once

#include "profiler/calls/call_sites.h"
#include "profiler/calls/call_times.h"
#include "profiler/waits/wait_log.h"

namespace fathom::profiler {

class TimedCall {
 public:
  [[gnu::always_inline]] TimedCall(const Caller& caller, std::uint32_t function, const char* name)
      : function_(function),
        site_(CallTimes::on() ? CallSites::outermost_site(caller, name) : nullptr),
        entered_(site_ == nullptr ? 0 : enter(function)) {}
  // `site`: as CallSites::site() gives it.
  TimedCall(std::uint32_t function, const void* site)
      : function_(function),
        site_(CallTimes::on() && CallSites::is_outermost() ? site : nullptr),
        entered_(site_ == nullptr ? 0 : enter(function)) {}
  TimedCall(const TimedCall&) = delete;

  bool on() const { return site_ != nullptr; }

  // The requests that the call waits for or tests.
  template <typename Request>
  void completes(int count, Request* requests) const {
    if (site_ != nullptr && WaitLog::on())
      WaitLog::completes(count, reinterpret_cast<void* const*>(requests));
  }

  std::uint64_t entered() const { return entered_; }  // 0 if not timed

  // The call has returned. `ticks`: the time, if it has been read already.
  void returned(std::uint64_t ticks = 0) {
    if (site_ != nullptr) left_ = ticks != 0 ? ticks : Ticks::now();
  }
  [[gnu::always_inline]] void leave(std::uint32_t communicator, std::uint64_t bytes) {
    const CallTimes::Rows* rows = CallTimes::recent_rows(site_, communicator);
    if (rows == nullptr) [[unlikely]]
      return leave_slowly(communicator, bytes);
    rows->add(bytes, left_ - entered_);
    if (WaitLog::on()) WaitLog::left(left_, rows->row(), bytes);
  }
  // The same for a collective. `root`: -1 if it has none; `request`: null if it blocks.
  void leave_collective(std::uint32_t communicator, std::uint64_t bytes, int root,
                        void* request = nullptr) {
    if (WaitLog::on()) WaitLog::collective(communicator, root, request);
    leave(communicator, bytes);
  }

  // Whether the program has paused counting. A collective keeps its place in the order of its
  // communicator even then, because the other processes may not have paused; before the call.
  bool is_paused() const { return site_ == nullptr && CallTimes::is_paused() && WaitLog::on(); }
  void pass_collective(std::uint32_t communicator) const {
    if (inside_.is_outermost()) WaitLog::passed_collective(function_, communicator);
  }

 private:
  void leave_slowly(std::uint32_t communicator, std::uint64_t bytes);
  static std::uint64_t enter(std::uint32_t function) {
    const std::uint64_t now = Ticks::now();
    if (WaitLog::on()) WaitLog::entered(function, now);
    return now;
  }

  std::uint32_t function_;
  const void* site_;  // null: not timed
  std::uint64_t entered_, left_ = 0;
  const CallSites::Inside inside_;
};

// The same in one copy for all functions that are called seldom or take long: inlined into 600
// wrappers, it would take the compiler longer than everything else in them.
class SeldomTimedCall : public TimedCall {
 public:
  SeldomTimedCall(const Caller& caller, std::uint32_t function, const char* name);
  SeldomTimedCall(std::uint32_t function, const void* site);
  ~SeldomTimedCall();

  void returned(std::uint64_t ticks = 0);
  void leave(std::uint32_t communicator, std::uint64_t bytes);
  void leave_collective(std::uint32_t communicator, std::uint64_t bytes, int root,
                        void* request = nullptr);
};

}  // namespace fathom::profiler

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
#include "profiler/openmpi/mpi.h"
#include "profiler/waits/wait_log.h"

namespace fathom::profiler {

// The status that a probe fills in: the program's own, or one in place of MPI_STATUS_IGNORE, so that
// it is known what a probe with wildcards has found.
class ProbeStatus {
 public:
  explicit ProbeStatus(MPI_Status* of_program)
      : used_(of_program != MPI_STATUS_IGNORE ? of_program : reinterpret_cast<MPI_Status*>(own_)) {}
  ProbeStatus(const ProbeStatus&) = delete;

  MPI_Status* used() const { return used_; }
  // The first two members are the same in the standard ABI.
  int source() const { return used_->MPI_SOURCE; }
  int tag() const { return used_->MPI_TAG; }

 private:
  alignas(16) char own_[64];  // more than any library's
  MPI_Status* used_;
};

class TimedCall {
 public:
  [[gnu::always_inline]] TimedCall(Caller caller, std::uint32_t function, const char* name,
                                   bool polls = false)
      : function_(function),
        site_(CallTimes::on() ? CallSites::outermost_site(caller, name) : nullptr),
        entered_(site_ == nullptr ? 0 : enter(function, polls)) {}
  // `site`: as CallSites::site() gives it.
  [[gnu::always_inline]] TimedCall(std::uint32_t function, const void* site, bool polls = false)
      : function_(function),
        site_(CallTimes::on() && CallSites::is_outermost() ? site : nullptr),
        entered_(site_ == nullptr ? 0 : enter(function, polls)) {}
  TimedCall(const TimedCall&) = delete;
  // Inlined where an exception passes too: a call that no function is given lies in registers.
  [[gnu::always_inline]] ~TimedCall() {}

  bool on() const { return site_ != nullptr; }

  // The requests that the call waits for or tests.
  template <typename Request>
  void completes(int count, Request* requests) const {
    if (site_ != nullptr) WaitLog::completes(count, reinterpret_cast<void* const*>(requests));
  }

  std::uint64_t entered() const { return entered_; }  // 0 if not timed

  // The call has returned. `ticks`: the time, if it has been read already.
  void returned(std::uint64_t ticks = 0) {
    if (site_ != nullptr) left_ = ticks != 0 ? ticks : Ticks::now();
  }
  [[gnu::always_inline]] void leave(std::uint32_t communicator, std::uint64_t bytes) {
    prepare(communicator, bytes);
    leave_prepared();
  }
  // The same in two steps: what can be looked up before a call in which the program is likely to wait, and
  // what only its end can add.
  [[gnu::always_inline]] void prepare(std::uint32_t communicator, std::uint64_t bytes) {
    communicator_ = communicator;
    bytes_ = bytes;
    added_ = CallTimes::recent_rows(site_, communicator);
  }
  [[gnu::always_inline]] void leave_prepared() {
    if (!added_.are_known()) [[unlikely]]
      return leave_slowly(function_, site_, {entered_, left_}, communicator_, bytes_);
    added_.add(bytes_, left_ - entered_);
    if (WaitLog::on()) WaitLog::left(left_, added_.row(), bytes_);
  }
  // The same for a collective. `root`: -1 if it has none; `request`: null if it blocks.
  void leave_collective(std::uint32_t communicator, std::uint64_t bytes, int root,
                        void* request = nullptr) {
    if (WaitLog::on()) WaitLog::collective(communicator, root, request);
    leave(communicator, bytes);
  }

  // The collective that the call is has made this window or file. After leave_collective() or
  // pass_collective().
  void made(const void* handle) const {
    if (is_noted()) WaitLog::object_made(handle);
  }

  // The call has made this communicator together with all its members, and with nobody else; before
  // leave(), even while the program has paused counting.
  void constructed(std::uint32_t communicator) const {
    if (communicator != profile::kNoCommunicator && is_noted())
      WaitLog::constructed(function_, communicator);
  }

  // Persistent collectives, for what their requests wait for: made, even while the program has paused
  // counting; started by this call, before leave(); about to be freed.
  void made_persistent(std::uint32_t communicator, int root, const void* request) const {
    if (is_noted()) WaitLog::persistent_made(function_, communicator, root, request);
  }
  template <typename Request>
  void started(int count, Request* requests) const {
    if (WaitLog::has_persistent() && is_noted()) [[unlikely]]
      WaitLog::persistent_started(count, reinterpret_cast<void* const*>(requests),
                                  on() ? entered_ : Ticks::now());
  }
  void frees(const void* request) const {
    if (WaitLog::has_persistent()) [[unlikely]]
      WaitLog::persistent_freed(request);
  }

  // A probe has found this message. Before leave().
  void found(MPI_Comm comm, const ProbeStatus& status) const;
  // The same of one that takes the message, even while the program has paused counting.
  void took(MPI_Comm comm, const ProbeStatus& status, MPI_Message message) const;

  // Whether the program has paused counting. A collective keeps its place in the order of its
  // communicator even then, because the other processes may not have paused; before the call.
  bool is_paused() const { return site_ == nullptr && CallTimes::is_paused() && WaitLog::on(); }
  void pass_collective(std::uint32_t communicator) const {
    if (inside_.is_outermost()) WaitLog::passed_collective(function_, communicator);
  }

 protected:
  struct Between {
    std::uint64_t entered, left;
  };
  // Static, so that in the usual case the call lies in registers.
  static void leave_slowly(std::uint32_t function, const void* site, Between ticks,
                           std::uint32_t communicator, std::uint64_t bytes);
  [[gnu::always_inline]] static std::uint64_t enter(std::uint32_t function, bool polls) {
    const std::uint64_t now = Ticks::now();
    if (polls) {
      WaitLog::poll_entered(function, now);
    } else {
      WaitLog::entered(function, now);
    }
    return now;
  }

  // Whether the call counts in orders that all members of a communicator share.
  bool is_noted() const {
    return (on() && WaitLog::on()) || (is_paused() && inside_.is_outermost());
  }

  std::uint32_t function_;
  const void* site_;  // null: not timed
  std::uint64_t entered_, left_ = 0;
  std::uint32_t communicator_ = 0;  // by prepare()
  std::uint64_t bytes_ = 0;
  CallTimes::Rows added_;
  const CallSites::Inside inside_;
};

// The same for a call that tests or probes and returns at once.
class PollingCall : public TimedCall {
 public:
  [[gnu::always_inline]] PollingCall(Caller caller, std::uint32_t function, const char* name)
      : TimedCall(caller, function, name, true) {}
  [[gnu::always_inline]] PollingCall(std::uint32_t function, const void* site)
      : TimedCall(function, site, true) {}

  // `failed`: it found nothing.
  [[gnu::always_inline]] void leave(std::uint32_t communicator, std::uint64_t bytes, bool failed) {
    CallTimes::Rows rows = CallTimes::recent_rows(site_, communicator);
    if (!rows.are_known()) [[unlikely]]
      rows = CallTimes::find_rows(function_, site_, communicator);
    if (!rows.are_known()) return WaitLog::not_timed();
    std::uint64_t* const calls_as_long = rows.add(bytes, left_ - entered_);
    if (!failed) return WaitLog::poll_succeeded(left_, rows.row(), bytes);
    WaitLog::poll_failed(site_, left_, rows.row(), bytes, calls_as_long);
  }
  bool ends_loop() const { return WaitLog::ends_loop(); }
  // A probe alone waits for nothing, and need not know what it has found.
  void found(MPI_Comm comm, const ProbeStatus& status) const {
    if (WaitLog::ends_loop()) TimedCall::found(comm, status);
  }
};

// A test that goes on with a loop of tests that fail, and whose time is not read (failing_polls.h):
//
//   if (UntimedPoll::is_next(caller, "MPI_Test")) {
//     int code;
//     {
//       UntimedPoll poll(1, request);
//       code = next(…);
//       poll.returned();
//     }
//     return UntimedPoll::leave(kFunction_MPI_Test, code, flag);
//   }
//
// Tens of millions of these calls may stand between a program's accesses to memory, whose stores that miss the
// caches are then further apart. So there are few stores here, not even of saved registers: what the end needs
// is a function of its own, and what comes after an exception, too.
class UntimedPoll {
 public:
  [[gnu::always_inline]] static bool is_next(Caller caller, const char* name) {
    return CallTimes::on() && WaitLog::is_untimed_poll(CallSites::outermost_site(caller, name));
  }
  // The same without a closer look at the caller: false if it needs one.
  [[gnu::always_inline]] static bool is_next_at(const void* return_address) {
    return WaitLog::is_untimed_poll(return_address) &&
           CallSites::is_outermost_site(return_address) && CallTimes::on();
  }

  template <typename Request>
  [[gnu::always_inline]] UntimedPoll(int count, Request* requests) {
    CallSites::enter_outermost();
    WaitLog::untimed_poll_entered(count, reinterpret_cast<void* const*>(requests));
  }
  UntimedPoll(const UntimedPoll&) = delete;
  [[gnu::always_inline]] ~UntimedPoll() {
    if (!has_returned_) thrown();
  }
  void returned() { has_returned_ = true; }

  // `found`: what the call sets if it has found something, by flag or number. Returns `code`.
  [[gnu::noinline]] static int leave(std::uint32_t function, int code, const int* found) {
    if (code == MPI_SUCCESS && found != nullptr && *found > 0) [[unlikely]]
      return succeeded(function, code);
    WaitLog::untimed_poll_failed();
    CallSites::leave_outermost();
    return code;
  }

 private:
  static int succeeded(std::uint32_t function, int code);
  // An error handler has thrown an exception.
  [[gnu::cold, gnu::noinline]] static void thrown() { CallSites::leave_outermost(); }

  bool has_returned_ = false;
};

// The same in one copy for all functions that are called seldom or take long: inlined into 600
// wrappers, it would take the compiler longer than everything else in them.
class SeldomTimedCall : public TimedCall {
 public:
  SeldomTimedCall(Caller caller, std::uint32_t function, const char* name);
  SeldomTimedCall(std::uint32_t function, const void* site);
  ~SeldomTimedCall();

  void returned(std::uint64_t ticks = 0);
  void leave(std::uint32_t communicator, std::uint64_t bytes);
  void leave_collective(std::uint32_t communicator, std::uint64_t bytes, int root,
                        void* request = nullptr);
  // The same for a collective of a window or file, as it was before the call.
  void leave_collective_on(const void* object, std::uint32_t communicator, std::uint64_t bytes,
                           bool has_request = false);
  // Before a call that frees the window or file.
  void frees_object(const void* object) const;
  // As pass_collective().
  void pass_collective_on(const void* object) const;
};

// MPI_Init and MPI_Finalize are not timed, because the time that counts lies between them. These
// tell when they were entered, after the one and before the other. `site`: null if the program did
// not make the call.
void initialized(std::uint64_t entered, std::uint32_t function, const void* site);
void finalizes(std::uint64_t entered, std::uint32_t function, const void* site);

}  // namespace fathom::profiler

// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/calls/timed_call.h"

#include <limits>

#include "profiler/counting/communicators.h"
#include "profiler/openmpi/pml.h"
#include "profiler/openmpi/standard_abi.h"

namespace fathom::profiler {
namespace {

WaitLog::End end_of_job(std::uint64_t entered, std::uint32_t function, const void* site) {
  if (site == nullptr || !CallTimes::was_opened()) return {};
  return {entered, reinterpret_cast<std::uint64_t>(site), CallTimes::place_of_call(site, function)};
}

void note_found(MPI_Comm comm, const ProbeStatus& status, const void* message) {
  if (!WaitLog::on() || status.source() < 0 || status.tag() < 0) return;  // of MPI_PROC_NULL
  comm = native(comm);
  const Live* live = comm == nullptr ? nullptr : Communicators::find(comm);
  if (live != nullptr) WaitLog::found(*live, status.tag(), status.source(), message);
}

}  // namespace

void TimedCall::leave_slowly(std::uint32_t function, const void* site, Between ticks,
                             std::uint32_t communicator, std::uint64_t bytes) {
  const CallTimes::Rows rows = CallTimes::find_rows(function, site, communicator);
  if (!rows.are_known()) return WaitLog::not_timed();
  rows.add(bytes, ticks.left - ticks.entered);
  if (WaitLog::on()) WaitLog::left(ticks.left, rows.row(), bytes);
}

void TimedCall::found(MPI_Comm comm, const ProbeStatus& status) const {
  note_found(comm, status, nullptr);
}

// Where the PML has fewer tag bits than an int (pml/ucx), requests keep no notes, so that a receive could
// not say that it is this message's.
void TimedCall::took(MPI_Comm comm, const ProbeStatus& status, MPI_Message message) const {
  const bool keeps_notes = original_pml.largest_user_tag == std::numeric_limits<int>::max();
  if (is_noted()) note_found(comm, status, keeps_notes ? message : nullptr);
}

SeldomTimedCall::SeldomTimedCall(Caller caller, std::uint32_t function, const char* name)
    : TimedCall(caller, function, name) {}
SeldomTimedCall::SeldomTimedCall(std::uint32_t function, const void* site)
    : TimedCall(function, site) {}
SeldomTimedCall::~SeldomTimedCall() = default;

int UntimedPoll::succeeded(std::uint32_t function, int code) {
  const std::uint64_t left = Ticks::now();
  const std::uint64_t lasted = WaitLog::untimed_poll_succeeded(function, left);
  const CallTimes::Rows rows =
      CallTimes::find_rows(function, WaitLog::site_of_untimed_poll(), profile::kNoCommunicator);
  if (rows.are_known()) {
    rows.add_estimated(lasted);
    WaitLog::poll_succeeded(left, rows.row(), 0);
  } else {
    WaitLog::not_timed();
  }
  CallSites::leave_outermost();
  return code;
}

void initialized(std::uint64_t entered, std::uint32_t function, const void* site) {
  WaitLog::initialized(end_of_job(entered, function, site));
}

void finalizes(std::uint64_t entered, std::uint32_t function, const void* site) {
  WaitLog::finalizes(end_of_job(entered, function, site));
}

void SeldomTimedCall::returned(std::uint64_t ticks) { TimedCall::returned(ticks); }

void SeldomTimedCall::leave(std::uint32_t communicator, std::uint64_t bytes) {
  TimedCall::leave(communicator, bytes);
}

void SeldomTimedCall::leave_collective(std::uint32_t communicator, std::uint64_t bytes, int root,
                                       void* request) {
  TimedCall::leave_collective(communicator, bytes, root, request);
}

void SeldomTimedCall::leave_collective_on(const void* object, std::uint32_t communicator,
                                          std::uint64_t bytes, bool has_request) {
  if (WaitLog::on()) WaitLog::collective_on(object, has_request);
  TimedCall::leave(communicator, bytes);
}

void SeldomTimedCall::frees_object(const void* object) const {
  if (WaitLog::on()) WaitLog::frees_object(object);
}

void SeldomTimedCall::pass_collective_on(const void* object) const {
  if (inside_.is_outermost()) WaitLog::passed_collective_on(function_, object);
}

}  // namespace fathom::profiler

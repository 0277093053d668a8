// SPDX-License-Identifier: BSD-3-Clause
// The enter and leave records of one MPI call, as the trace library's generated wrappers use them.
//
//   TracedCall call(kFunction_MPI_Send, site);
//   if (call.on()) call.enter(pair(communicator(comm), dest), pair(tag, short_bytes(bytes)));
//   const int result = next(…);
//   call.leave(result);
//
// Payload words are packed as trace/format/format.h packs a function's attributes: 4-byte ones two
// to a word, the low half first, then the 8-byte ones. Hot: a record costs one reading of the clock
// and a few stores. Nothing here changes errno, arguments or results, and nothing dereferences what
// MPI itself would not.
#pragma once

#include <cstdint>
#include <utility>

#include "profiler/calls/arguments.h"
#include "profiler/counting/communicators.h"
#include "profiler/openmpi/mpi.h"
#include "profiler/recording/chosen_communicators.h"
#include "profiler/recording/recorder.h"
#include "rankmap/communicator_view.h"
#include "rankmap/layouts/all.h"

namespace fathom::profiler::traced {

using namespace calls;

// Two 4-byte attributes, signed or not.
template <typename Low, typename High = std::uint32_t>
constexpr std::uint64_t pair(Low low, High high = 0) {
  return std::uint64_t{static_cast<std::uint32_t>(low)} |
         std::uint64_t{static_cast<std::uint32_t>(high)} << 32;
}

// A length as an attribute; kLongBytes means that the whole length follows after the payload.
constexpr std::uint32_t short_bytes(std::uint64_t bytes) {
  return bytes < trace::kLongBytes ? static_cast<std::uint32_t>(bytes) : trace::kLongBytes;
}

// The number of a request in the records: its address, or kNoRequest for the predefined requests
// that are always complete (ompi_request_null, ompi_request_empty and, since 6.0,
// ompi_request_empty_send).
class Requests {
 public:
  static void open();  // when MPI has begun
  static std::uint64_t number(MPI_Request request) {
    const auto* address = static_cast<const void*>(request);
    return address == null_ || address == empty_ || address == empty_send_
               ? trace::kNoRequest
               : reinterpret_cast<std::uint64_t>(address);
  }

 private:
  static inline const void* null_ = nullptr;
  static inline const void* empty_ = nullptr;
  static inline const void* empty_send_ = nullptr;
};

inline std::uint64_t number(MPI_Request request) {
  request = native(request);
  return request == nullptr ? 0 : Requests::number(request);
}
template <typename Handle>
std::uint64_t number(Handle handle) {
  return reinterpret_cast<std::uint64_t>(native(handle));
}

// As MPI_Win_lock has it; 0: MPI_Win_lock_all, whose locks are shared.
inline std::uint32_t kind_of_lock(int type, int assertions) {
  using trace::LockType;
  const bool checked = (assertions & FATHOM_OF_PROGRAM(MPI_MODE_NOCHECK)) == 0;
  const bool exclusive = type == FATHOM_OF_PROGRAM(MPI_LOCK_EXCLUSIVE);
  return static_cast<std::uint32_t>(!checked    ? LockType::kNoCheck
                                    : exclusive ? LockType::kExclusive
                                                : LockType::kShared);
}

// Which functions are recorded, and whether call sites are.
struct Selection {
  static inline bool left_out[Recorder::kMaxFunctions] = {};
  static inline bool sites = true;
  static inline std::uint32_t sample = 1;  // record one in this many calls of a thread
  static inline std::uint32_t last_call = ~std::uint32_t{0};  // MPI_Finalize: never sampled out,
                                                              // because it ends the program's time
};

class TracedCall {
 public:
  // `site`: the address in the program that the call returns to. Null: the program did not make the
  // call, and it is not recorded.
  [[gnu::always_inline]] TracedCall(std::uint32_t function, const void* site)
      : function_(function), site_(site) {
    if (site != nullptr && !Selection::left_out[function]) [[likely]]
      stream_ = Recorder::stream_of_call();
    if (Selection::sample > 1 && stream_ != nullptr) [[unlikely]]
      sample();
  }
  TracedCall(const TracedCall&) = delete;

  // The communicator that the call is on: leaves the call out if it is not chosen.
  void on_communicator(std::uint32_t kind) {
    if (ChosenCommunicators::leaves_out(kind)) [[unlikely]]
      leave_out();
  }

  bool on() const { return stream_ != nullptr; }

  // The time of the call, if it has been read; else 0, and enter() reads it.
  void began_at(std::uint64_t ticks) { began_at_ = ticks; }
  std::uint64_t left_at() const { return stream_ == nullptr ? 0 : left_at_; }
  // Time of this thread's last record: right after enter(), when the call was entered. Needs on().
  std::uint64_t last_ticks() const { return stream_->last_ticks; }

  template <typename... Words>
  void enter(Words... words) {
    enter_at_once(words...);
  }
  // The same for short calls: inlined.
  template <typename... Words>
  [[gnu::always_inline]] void enter_at_once(Words... words) {
    if (stream_ != nullptr) enter_at(entered(), words...);
  }
  template <typename... Words>
  [[gnu::always_inline]] void enter_at(std::uint64_t now, Words... words) {
    if (stream_ == nullptr) return;
    if (Selection::sites) {
      Recorder::append(*stream_, now, trace::RecordKind::kEnter, function_ | trace::kHasSite,
                       words..., site());
    } else {
      Recorder::append(*stream_, now, trace::RecordKind::kEnter, function_, words...);
    }
    Recorder::last_entered(*stream_, sizeof...(Words) + (Selection::sites ? 1 : 0));
  }
  // The same with whole lengths (kLongBytes), which follow everything else.
  template <std::size_t kLengths, typename... Words>
  void enter_long(const std::uint64_t (&lengths)[kLengths], Words... words) {
    if (stream_ == nullptr) return;
    const std::uint64_t now = entered();
    const auto append = [&]<std::size_t... I>(std::index_sequence<I...>) {
      if (Selection::sites) {
        Recorder::append(*stream_, now, trace::RecordKind::kEnter, function_ | trace::kHasSite,
                         words..., site(), lengths[I]...);
      } else {
        Recorder::append(*stream_, now, trace::RecordKind::kEnter, function_, words...,
                         lengths[I]...);
      }
    };
    append(std::make_index_sequence<kLengths>());
  }

  // `count` more 8-byte values of an attribute of this call (kRequests); call it after enter(), and
  // before completed().
  void values(trace::Attribute attribute, const std::uint64_t* values, std::size_t count);

  // The call has returned: sets the time of all records up to leave().
  void returned() {
    if (stream_ != nullptr) left_at_ = Ticks::now();
  }
  void completed(std::uint64_t request, bool cancelled) {
    if (stream_ == nullptr || request == trace::kNoRequest) return;
    Recorder::append(*stream_, left_at_, trace::RecordKind::kRequestCompleted, cancelled ? 1 : 0,
                     request);
  }

  // leave() for a call that returns as soon as the message recorded last has arrived.
  template <typename... Words>
  void leave_with_message(int result, Words... words) {
    if (stream_ != nullptr) left_at_ = Recorder::now_or_last(*stream_, kReceived);
    leave(result, words...);
  }

  template <typename... Words>
  [[gnu::always_inline]] void leave(int result, Words... words) {
    if (sampled_out_ != nullptr) [[unlikely]]
      return add_up();
    if (stream_ == nullptr) return;
    if (left_at_ == 0) left_at_ = Ticks::now();
    // Error classes of MPI are small; Open MPI's codes equal their classes
    // (ompi/errhandler/errcode.h).
    result = native_error(result);
    const std::uint32_t error =
        result >= 0 && result < 255 ? static_cast<std::uint32_t>(result) : 255;
    Recorder::append(*stream_, left_at_, trace::RecordKind::kLeave, function_ | error << 12,
                     words...);
  }

 private:
  std::uint64_t entered() const { return began_at_ != 0 ? began_at_ : Ticks::now(); }
  std::uint64_t site() const { return reinterpret_cast<std::uint64_t>(site_); }

  [[gnu::always_inline]] void leave_out() {
    stream_ = nullptr;
    if (sampled_out_ != nullptr) sampled_out_->muted = false;
    sampled_out_ = nullptr;
  }

  // Leaves out this call, and what happens inside it, unless it is its turn. Inlined, because a call that
  // no other function is given lies in registers.
  [[gnu::always_inline]] void sample() {
    if (stream_->calls++ % Selection::sample == 0 || stream_->left_out == nullptr ||
        function_ == Selection::last_call)
      return;
    sampled_out_ = stream_;
    stream_ = nullptr;
    sampled_out_->muted = true;
    left_at_ = Ticks::now();
  }
  [[gnu::always_inline]] void add_up() const {
    sampled_out_->muted = false;
    LeftOut& sum = sampled_out_->left_out[function_];
    sum.calls += 1;
    sum.ticks += Ticks::now() - left_at_;
  }

  Stream* stream_ = nullptr;
  Stream* sampled_out_ = nullptr;
  std::uint32_t function_;
  const void* site_;
  std::uint64_t began_at_ = 0, left_at_ = 0;
};

// Records the world ranks of a group's members after the call's enter record; those that are not of
// this world are left out. Cost: some 10 ns for each member.
void name_members(TracedCall& call, MPI_Group group);

// enter() for a call with one or two lengths, whose short forms are among the words.
template <typename... Words>
[[gnu::always_inline]] inline void enter_sized(TracedCall& call, std::uint64_t bytes,
                                               Words... words) {
  if (bytes < trace::kLongBytes) [[likely]] {
    call.enter(words...);
  } else {
    call.enter_long({bytes}, words...);
  }
}
template <typename... Words>
[[gnu::always_inline]] inline void enter_sized_at_once(TracedCall& call, std::uint64_t bytes,
                                                       Words... words) {
  if (bytes < trace::kLongBytes) [[likely]] {
    call.enter_at_once(words...);
  } else {
    call.enter_long({bytes}, words...);
  }
}
template <typename... Words>
void enter_sized2(TracedCall& call, std::uint64_t bytes, std::uint64_t bytes2, Words... words) {
  if (bytes2 < trace::kLongBytes) [[likely]] {
    enter_sized(call, bytes, words...);
  } else if (bytes < trace::kLongBytes) {
    call.enter_long({bytes2}, words...);
  } else {
    call.enter_long({bytes, bytes2}, words...);
  }
}

}  // namespace fathom::profiler::traced

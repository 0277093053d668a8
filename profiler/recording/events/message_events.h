// SPDX-License-Identifier: BSD-3-Clause
// What libfathom-trace.so does with each message besides counting it: records it
// (trace/format/format.h), and notes what finding waits needs.
#pragma once

#include <cstdint>

#include "profiler/counting/communicators.h"
#include "profiler/counting/partitioned.h"
#include "profiler/recording/chosen_communicators.h"
#include "profiler/recording/recorder.h"
#include "profiler/recording/traced_call.h"
#include "profiler/waits/message_waits.h"
#include "rankmap/layouts/all.h"

namespace fathom::profiler::events {

inline constexpr bool kRecords = true;

// FATHOM_TRACE_LEVEL: `calls` leaves out what happens inside the library, that is hidden messages
// and transfers.
struct Level {
  static inline bool transfers = true;
  static inline bool requests = false;  // no PERUSE: kActivate is recorded at the PML's boundary
  // True for a window that begins late: only messages whose predecessors are known (window_opening.h).
  static inline bool only_noted = false;
};

// Two 4-byte values of a record in one word.
constexpr std::uint64_t two(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{low} | std::uint64_t{high} << 32;
}

// The time of a message's record. A receive without a request ends no record: what completed last is
// another request, perhaps long ago.
inline std::uint64_t time_of_message(const Stream& stream, trace::RecordKind kind,
                                     const void* request) {
  const std::uint32_t follows = kind == trace::RecordKind::kMessageSent ? kEntered | kReceived
                                : request == nullptr                    ? 0
                                                     : kCompleted | kEnded | kMatched;
  return Recorder::now_or_last(stream, follows);
}

// The record of a message that is no partition and not long.
[[gnu::always_inline]] inline void append_message(Stream& stream, trace::RecordKind kind,
                                                  ClassId class_id, std::uint64_t where, int tag,
                                                  std::uint64_t bytes, const void* request) {
  const std::uint64_t what =
      two(static_cast<std::uint32_t>(tag), static_cast<std::uint32_t>(bytes));
  // As a rule a call sends what it was given: then its own record says so.
  if (kind == trace::RecordKind::kMessageSent && class_id == kPointToPoint && request == nullptr &&
      Recorder::add_to_entered(stream, where, what))
    return Recorder::last_was(stream, kSent);
  const std::uint64_t now = time_of_message(stream, kind, request);
  if (request == nullptr) {
    Recorder::append(stream, now, kind, class_id, where, what);
  } else {
    Recorder::append(stream, now, kind, class_id, where, what,
                     reinterpret_cast<std::uint64_t>(request));
  }
  // A record that follows a short message comes within nanoseconds (Follows in recorder.h).
  constexpr std::uint64_t kShort = 1024;
  const bool sends = kind == trace::RecordKind::kMessageSent;
  if (sends || bytes <= kShort) Recorder::last_was(stream, sends ? kSent : kReceived);
}

// Any message.
[[gnu::noinline]] inline void message_slowly(trace::RecordKind kind, const Live& live, int tag,
                                             int peer, std::uint64_t bytes, const void* request) {
  if (tag < 0 && !Level::transfers) return;
  // Which communicator a partition belongs to is known below.
  const bool is_chosen = !ChosenCommunicators::leaves_out(live.kind);
  if (!is_chosen && !Partitioned::in_use()) return;
  Stream* stream = Recorder::unmuted_stream();
  if (stream == nullptr) return;
  const bool sends = kind == trace::RecordKind::kMessageSent;
  const auto direction = sends ? profile::Direction::kSent : profile::Direction::kReceived;
  const ClassId class_id = classify(live, direction, tag, peer, bytes);
  if (class_id == kIgnored || (Level::only_noted && class_id != kPointToPoint)) return;
  std::uint64_t where = two(live.kind, static_cast<std::uint32_t>(peer));
  std::uint64_t operation = 0;
  if (class_id == kPartitioned) {
    const Partitioned::Place place = Partitioned::place_of(direction, live, peer, tag);
    if (ChosenCommunicators::leaves_out(place.kind)) return;
    operation = reinterpret_cast<std::uint64_t>(place.request);
    where = two(place.kind, static_cast<std::uint32_t>(place.peer));
    tag += trace::kFirstPartitionTag;
  } else if (!is_chosen) {
    return;
  }
  if (operation == 0 && bytes < trace::kLongBytes)
    return append_message(*stream, kind, class_id, where, tag, bytes, request);
  const std::uint64_t now = time_of_message(*stream, kind, request);
  const auto number = reinterpret_cast<std::uint64_t>(request);
  const std::uint64_t what = two(static_cast<std::uint32_t>(tag), traced::short_bytes(bytes));
  if (operation == 0)
    return Recorder::append(*stream, now, kind, class_id, where, what, number, bytes);
  if (bytes >= trace::kLongBytes)
    return Recorder::append(*stream, now, kind, class_id, where, what, number, operation, bytes);
  Recorder::append(*stream, now, kind, class_id, where, what, number, operation);
}

[[gnu::always_inline]] inline void message(trace::RecordKind kind, const Live& live, int tag,
                                           int peer, std::uint64_t bytes, const void* request) {
  if (!Recorder::recording()) return;
  const bool is_usual =
      tag >= 0 && live.program_class.load(std::memory_order_relaxed) == kPointToPoint &&
      ChosenCommunicators::leaves_none_out() && !Partitioned::in_use() && bytes < trace::kLongBytes;
  if (!is_usual) [[unlikely]]
    return message_slowly(kind, live, tag, peer, bytes, request);
  if (Stream* stream = Recorder::unmuted_stream(); stream != nullptr)
    append_message(*stream, kind, kPointToPoint, two(live.kind, static_cast<std::uint32_t>(peer)),
                   tag, bytes, request);
}

// Called before the message is handed to the PML, so that its receive is never recorded earlier.
// Ignores MPI_PROC_NULL.
[[gnu::always_inline]] inline void message_sent(const openmpi::Layout& layout, const void* comm,
                                                int tag, int peer, std::uint64_t bytes) {
  if (peer < 0 || !Recorder::recording()) return;  // before looking further: the receiver waits
  const Live* live = Communicators::find(comm, layout);
  if (live != nullptr) message(trace::RecordKind::kMessageSent, *live, tag, peer, bytes, nullptr);
}

inline void message_received(const Live& live, int tag, int peer, std::uint64_t bytes,
                             const void* request) {
  message(trace::RecordKind::kMessageReceived, live, tag, peer, bytes, request);
}

inline bool records_transfers() { return Level::transfers; }
// Whether a received message is recorded where waits/wait_log.h counts it, and not where PERUSE
// reports it, which may be earlier: no window may begin between the two.
inline bool records_where_noted() { return Level::only_noted; }

// Takes back the last 0-byte message recorded on this thread, whose length comes with another
// record (see source_peruse.cpp). It becomes a record that readers skip, unless its chunk is
// already full.
inline void received_retracted(const void* request) {
  Stream* stream = Recorder::unmuted_stream();
  if (stream != nullptr)
    Recorder::retract(*stream, trace::RecordKind::kMessageReceived,
                      reinterpret_cast<std::uint64_t>(request));
}

// The records that a step immediately follows, in the order of pml/ob1 (pml_ob1_recvreq.h,
// pml_ob1_recvfrag.c), and which of them the step is itself.
struct StepOrder {
  std::uint32_t follows;
  std::uint32_t is;
};
constexpr StepOrder order_of(trace::TransferStep step, bool short_receive) {
  using Step = trace::TransferStep;
  switch (step) {
    case Step::kActivate: return {kEntered | kSent | kReceived, kActivated};
    case Step::kPosted: return {kActivated, 0};
    case Step::kMatchedExpected:
    case Step::kMatchedUnexpected: return {0, kMatched};
    case Step::kBegin: return {kMatched, kBegun};
    case Step::kEnd: return {short_receive ? std::uint32_t{kBegun} : 0, kEnded};
    case Step::kComplete: return {kEnded | kMatched, kCompleted};
    default: return {0, 0};
  }
}

inline bool is_left_out(const void* request) {
  if (ChosenCommunicators::leaves_none_out()) [[likely]]
    return false;
  const Live* live =
      Communicators::find(rankmap::field<const void*>(request, openmpi::kRequestObject));
  return live != nullptr && ChosenCommunicators::leaves_out(live->kind);
}

// `received_bytes_at`: where a receive request counts its bytes; for kEnd alone. `then`: a step that follows at
// once, if one does.
[[gnu::always_inline]] inline void transfer(trace::TransferStep step, bool receiving,
                                            const void* request,
                                            std::ptrdiff_t received_bytes_at = 0,
                                            trace::TransferStep then = {}) {
  if (!Level::transfers) return;
  constexpr std::size_t kMovedAtOnce = 1024;
  const bool short_receive =
      receiving && step == trace::TransferStep::kEnd &&
      rankmap::field<std::size_t>(request, received_bytes_at) <= kMovedAtOnce;
  const StepOrder order = order_of(step, short_receive);
  const auto number = reinterpret_cast<std::uint64_t>(request);
  const bool goes_on = then != trace::TransferStep{};
  const std::uint32_t with = goes_on ? trace::also(then) : 0;
  const std::uint32_t is = goes_on ? order_of(then, short_receive).is : order.is;
  // Steps at once share a record, as they share its time: a short receive has two instead of six. If the
  // one before was recorded, so is this.
  constexpr std::uint32_t kSteps = kActivated | kMatched | kBegun | kEnded;
  Stream* stream = Recorder::stream_so_far();
  if (stream == nullptr ||
      !Recorder::add_to_last(*stream, order.follows & kSteps, number, trace::also(step) | with)) {
    if (is_left_out(request)) return;
    stream = Recorder::unmuted_stream();
    if (stream == nullptr) return;
    Recorder::append(
        *stream, Recorder::now_or_last(*stream, order.follows), trace::RecordKind::kTransfer,
        static_cast<std::uint32_t>(step) | (receiving ? trace::kReceiving : 0) | with, number);
  }
  Recorder::last_was(*stream, static_cast<Follows>(is));
}

// The message whose match was the last step has no bytes, so that its transfer did not begin with it.
inline void not_begun(const void* request) {
  Stream* stream = Recorder::stream_so_far();
  if (stream != nullptr &&
      Recorder::take_from_last(*stream, kBegun, reinterpret_cast<std::uint64_t>(request),
                               trace::also(trace::TransferStep::kBegin)))
    Recorder::last_was(*stream, kMatched);
}

// ---- without PERUSE: the start and end of a request, recorded at the PML's boundary ----

inline void request_started(const void* request, bool receiving) {
  if (Level::requests) transfer(trace::TransferStep::kActivate, receiving, request);
}
inline void request_completed(const void* request, bool receiving) {
  if (Level::requests) transfer(trace::TransferStep::kComplete, receiving, request);
}

template <bool kIsReceive>
int on_complete(void* request) {
  request_completed(request, kIsReceive);
  if (!kIsReceive && WaitLog::on() && rankmap::field<bool>(request, openmpi::kRequestPersistent))
    WaitLog::persistent_sent(request);
  return 0;
}

// Handles a request that the PML returned. Its callback records the end, unless the library uses
// the callback itself (coll/adapt, osc/pt2pt). An operation that was complete at once has no
// request of its own; it ends where the call leaves.
template <bool kIsReceive>
void requested(void* request) {
  if (!Level::requests ||
      traced::Requests::number(static_cast<MPI_Request>(request)) == trace::kNoRequest)
    return;
  request_started(request, kIsReceive);
  auto& callback = rankmap::field_ref<int (*)(void*)>(request, openmpi::kRequestCallback);
  if (rankmap::is_complete(request)) return request_completed(request, kIsReceive);
  if (callback == nullptr) __atomic_store_n(&callback, &on_complete<kIsReceive>, __ATOMIC_RELEASE);
}
inline void send_requested(void* request) { requested<false>(request); }
inline void receive_requested(void* request) { requested<true>(request); }

// A message arrived that no receive was waiting for, or such a message left the queue.
inline void unexpected(const Live& live, int source, int tag, bool left) {
  if (ChosenCommunicators::leaves_out(live.kind)) return;
  Stream* stream = Recorder::unmuted_stream();
  if (stream == nullptr) return;
  Recorder::append(
      *stream, Ticks::now(), trace::RecordKind::kUnexpected, left ? 1 : 0,
      std::uint64_t{live.kind} | std::uint64_t{static_cast<std::uint32_t>(source)} << 32,
      std::uint64_t{static_cast<std::uint32_t>(tag)});
}

}  // namespace fathom::profiler::events

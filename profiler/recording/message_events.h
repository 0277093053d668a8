// What libfathom-trace.so does with each message beside counting it: records it (trace/format.h).
#pragma once

#include <cstdint>

#include "openmpi_layout.h"
#include "profiler/communicators.h"
#include "profiler/recorder.h"

namespace fathom::profiler::events {

inline constexpr bool kRecords = true;

// FATHOM_TRACE_LEVEL: `calls` leaves out what happens inside the library: hidden messages and transfers.
struct Level {
  static inline bool transfers = true;
  static inline bool requests = false;  // no PERUSE: kActivate is recorded at the PML's boundary
};

inline void message(trace::RecordKind kind, const Live& live, int tag, int peer, std::uint64_t bytes,
                    const void* request) {
  if (tag < 0 && !Level::transfers) return;
  Stream* stream = Recorder::unmuted_stream();
  if (stream == nullptr) return;
  const ClassId class_id = classify(live, tag);
  if (class_id == kIgnored) return;
  const auto two = [](std::uint32_t low, std::uint32_t high) {
    return std::uint64_t{low} | std::uint64_t{high} << 32;
  };
  const std::uint64_t where = two(live.kind, static_cast<std::uint32_t>(peer));
  const std::uint64_t now = Recorder::now_or_last(*stream);
  const auto number = reinterpret_cast<std::uint64_t>(request);
  if (bytes >= trace::kLongBytes) [[unlikely]] {
    return Recorder::append(*stream, now, kind, class_id, where, two(static_cast<std::uint32_t>(tag), trace::kLongBytes),
                            number, bytes);
  }
  const std::uint64_t what = two(static_cast<std::uint32_t>(tag), static_cast<std::uint32_t>(bytes));
  if (request == nullptr) {
    Recorder::append(*stream, now, kind, class_id, where, what);
  } else {
    Recorder::append(*stream, now, kind, class_id, where, what, number);
  }
  // The PML is asked at once, and what waits for a short message goes on at once.
  constexpr std::uint64_t kShort = 1024;
  if (kind == trace::RecordKind::kMessageSent || bytes <= kShort) Recorder::followed_at_once(*stream);
}

// Before it is handed to the PML, so that no receive of it is recorded earlier. Not for MPI_PROC_NULL.
inline void message_sent(const void* comm, int tag, int peer, std::uint64_t bytes) {
  if (peer < 0) return;
  const Live* live = Communicators::find(comm);
  if (live != nullptr) message(trace::RecordKind::kMessageSent, *live, tag, peer, bytes, nullptr);
}

inline void message_received(const Live& live, int tag, int peer, std::uint64_t bytes, const void* request) {
  message(trace::RecordKind::kMessageReceived, live, tag, peer, bytes, request);
}

inline bool records_transfers() { return Level::transfers; }

// The 0-byte message recorded last on this thread is none: its length comes with another record (see
// source_peruse.cpp). It becomes a record that readers skip, unless its chunk is full already.
inline void received_retracted(const void* request) {
  Stream* stream = Recorder::unmuted_stream();
  if (stream != nullptr) Recorder::retract(*stream, trace::RecordKind::kMessageReceived, reinterpret_cast<std::uint64_t>(request));
}

// A step of a transfer, as PERUSE tells it. What ends one step begins the next (pml_ob1_recvreq.c); a match and the
// moving of data begin anew.
inline void transfer(trace::TransferStep step, bool receiving, const void* request) {
  using Step = trace::TransferStep;
  if (!Level::transfers) return;
  Stream* stream = Recorder::unmuted_stream();
  if (stream == nullptr) return;
  constexpr std::size_t kMovedAtOnce = 1024;
  const bool moved_at_once = receiving && step == Step::kEnd &&
                             rankmap::field<std::size_t>(request, openmpi::kOb1ReceivedBytes) <= kMovedAtOnce;
  const bool begins = step == Step::kMatchedExpected || step == Step::kMatchedUnexpected || step == Step::kContinue ||
                      (step == Step::kEnd && !moved_at_once);
  const std::uint64_t now = begins ? Ticks::now() : Recorder::now_or_last(*stream);
  Recorder::append(*stream, now, trace::RecordKind::kTransfer,
                   static_cast<std::uint32_t>(step) | (receiving ? trace::kReceiving : 0),
                   reinterpret_cast<std::uint64_t>(request));
  if (step != Step::kPosted) Recorder::followed_at_once(*stream);
}

// What the PML returned, where PERUSE does not tell.
inline void send_requested(const void* request) {
  if (Level::requests) transfer(trace::TransferStep::kActivate, false, request);
}
inline void receive_requested(const void* request) {
  if (Level::requests) transfer(trace::TransferStep::kActivate, true, request);
}

// A message that no receive waited for came, or was taken out of the queue.
inline void unexpected(const Live& live, int source, int tag, bool left) {
  Stream* stream = Recorder::unmuted_stream();
  if (stream == nullptr) return;
  Recorder::append(*stream, Ticks::now(), trace::RecordKind::kUnexpected, left ? 1 : 0,
                   std::uint64_t{live.kind} | std::uint64_t{static_cast<std::uint32_t>(source)} << 32,
                   std::uint64_t{static_cast<std::uint32_t>(tag)});
}

}  // namespace fathom::profiler::events

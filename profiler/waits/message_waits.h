// SPDX-License-Identifier: BSD-3-Clause
// What the libraries that time calls note of each message, so that waits can be found at the end
// (wait_log.h): half of events/message_events.h and of recording/events/message_events.h.
//
// A request keeps its note in the data of its completion callback, which Open MPI leaves to the code that
// sets that callback. Only requests of the program have one.
#pragma once

#include "profiler/waits/wait_log.h"
#include "rankmap/communicator_view.h"
#include "rankmap/layouts/all.h"

namespace fathom::profiler::events {

inline constexpr bool kFindsWaits = true;

// The PML took a message. `request`: null if the call that sends it completes it.
inline void sent(const Live& live, int tag, int destination, void* request) {
  if (!WaitLog::on() || destination < 0 || !WaitLog::is_of_program(live, tag)) return;
  const Part part = WaitLog::sent(live, tag, destination);
  if (request == nullptr) {
    WaitLog::completed(part);
  } else {
    WaitLog::watch_send(request, part);
  }
}

inline bool is_watched(const Live* live, int tag, int source) {
  return WaitLog::on() && live != nullptr && source != openmpi::kProcNull &&
         WaitLog::is_of_program(*live, tag == openmpi::kAnyTag ? 0 : tag);
}

// A receive was posted. `keeps_note`: false if the PML uses the callback's data itself.
inline void posted(const Live* live, int tag, int source, void* request, bool keeps_note) {
  if (!keeps_note || !is_watched(live, tag, source)) return;
  rankmap::field_ref<WaitLog::Note>(request, openmpi::kRequestCallbackData) =
      WaitLog::posted(*live, tag, source);
}

// The same for one whose note is known: posted_matched().
inline void posted_with(void* request, std::uint64_t note, bool keeps_note) {
  if (keeps_note && WaitLog::on())
    rankmap::field_ref<WaitLog::Note>(request, openmpi::kRequestCallbackData) = note;
}

// The present call is about to receive a message that a probe has taken. Returns its note; 0: unknown.
inline std::uint64_t posted_matched(const void* message) {
  return WaitLog::on() ? WaitLog::posted_matched(message) : 0;
}

// A receive is about to be posted that keeps no note itself: a persistent one, or one that the
// present call completes. Returns its note.
inline std::uint64_t started(const Live* live, int tag, int source) {
  return is_watched(live, tag, source) ? WaitLog::posted(*live, tag, source) : 0;
}

// It was not posted.
inline void not_started(std::uint64_t note) {
  if (WaitLog::on()) WaitLog::cancelled(note);
}

// The present call has posted and completed a receive. `note`: started(); 0 if nobody saw it posted.
inline void received(const Live& live, int tag, int source, std::uint64_t note) {
  if (WaitLog::on() && WaitLog::is_of_program(live, tag))
    WaitLog::received(live, tag, source, note);
}

// The present call completes a receive and frees its request.
inline void request_received(const Live& live, int tag, int source, const void* request,
                             bool keeps_note) {
  if (!WaitLog::on() || !WaitLog::is_of_program(live, tag)) return;
  if (!keeps_note) return WaitLog::received_at_unknown_post(live, tag, source);
  WaitLog::received(live, tag, source,
                    rankmap::field<WaitLog::Note>(request, openmpi::kRequestCallbackData));
}

// The present call says that a receive is complete, and leaves its request, which keeps a note.
inline void request_seen(const Live& live, int tag, int source, void* request) {
  if (!WaitLog::on() || !WaitLog::is_of_program(live, tag)) return;
  auto& note = rankmap::field_ref<WaitLog::Note>(request, openmpi::kRequestCallbackData);
  note = WaitLog::seen(live, tag, source, note);
}

// A persistent receive is complete.
inline void persistent_received(const Live& live, int tag, int source, std::uint64_t note,
                                const void* request) {
  if (WaitLog::on() && WaitLog::is_of_program(live, tag))
    WaitLog::persistent_received(live, tag, source, note, request);
}

// A receive is complete whose request the program has given up: no call waited for it.
inline void given_up_received(const Live& live, int tag, int source, const void* request,
                              bool keeps_note) {
  if (!keeps_note) return request_received(live, tag, source, request, keeps_note);
  persistent_received(live, tag, source,
                      rankmap::field<WaitLog::Note>(request, openmpi::kRequestCallbackData),
                      request);
}

// A receive ends without a message.
inline void not_received(const void* request, bool keeps_note) {
  if (WaitLog::on() && keeps_note)
    WaitLog::cancelled(rankmap::field<WaitLog::Note>(request, openmpi::kRequestCallbackData));
}

}  // namespace fathom::profiler::events

// SPDX-License-Identifier: BSD-3-Clause
// One pass over a trace as exporters and analyses want it: calls as intervals, messages joined with
// their other end, requests from their start to their completion.
//
// A consumer is a Visitor: a small table of operations over this one walk. walk_process() goes
// through one process and knows nothing of the others. walk_job() merges all processes by time and
// joins messages, for which it reads the trace twice (partners.h).
//
// What belongs to which request is call_tracker.h's business, and which message to which receive is
// that of channels.h; the analyses use both too, so that exports and analyses agree.
//
// Memory: open calls, requests alive and messages under way; walk_job 8 bytes a message more, in
// temporary files where that is much.
// Threading: one thread for each walk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/definitions.h"
#include "trace/event.h"
#include "trace/reader.h"

namespace fathom::trace {

struct Place {
  std::size_t process = 0;  // position in the definitions
  std::int32_t rank = 0;
  std::uint32_t thread = 0;
};

// One call of one thread. `leave` is complete only once the call was left.
struct Call {
  Event enter, leave;
  std::uint32_t depth = 0;  // 0: not inside another call
  bool cut = false;         // no leave was recorded; leave.time_ns is the process's last moment

  std::uint64_t request() const { return leave.request ? leave.request : enter.request; }
};

enum class RequestKind : std::uint8_t { kOther, kSend, kReceive, kCollective };

// From the call that starts it (for a persistent one: each start) to the wait or test that
// completes it.
struct Request {
  std::uint64_t number = 0;
  std::uint64_t started_ns = 0;
  Event posted;  // the call's enter, of a persistent one its MPI_…_init's: peer, tag, communicator
  Event message;           // once has_message: what it received
  std::uint64_t sent = 0;  // Message::number of what it sends; 0: nothing, or not known
  RequestKind kind = RequestKind::kOther;
  bool persistent = false;
  bool active = false;
  bool has_message = false;
  bool cancelled = false;
};

struct Message {
  Event event;                   // kMessageSent or kMessageReceived
  std::uint64_t id = 0;          // the same at both ends; 0 in walk_process
  std::uint64_t number = 0;      // among the messages of its process, from 1
  bool hidden = false;           // the library's own, inside a collective and the like
  bool nonblocking = false;      // belongs to a request of the program, which completes it
  const Call* inside = nullptr;  // the innermost call open on its thread
};

struct MessageKey {
  std::int32_t communicator = 0, source = 0, destination = 0, tag = 0;  // world ranks
  bool operator==(const MessageKey&) const = default;
};

struct MessageEnd {
  std::uint64_t id = 0;  // the same for both ends, from 1
  std::uint64_t time_ns = 0, bytes = 0;
  std::uint64_t posted_ns = 0;  // when the call that sends or receives it began
  std::size_t process = 0;
  std::uint32_t thread = 0;
  std::uint32_t message_class = 0;
};

// A message both ends of which are known.
struct Transfer {
  MessageKey key;
  MessageEnd sent, received;
};

// Operations in the order of time of each thread. What is not needed is not overridden.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void enter(const Place&, const Call&) {}  // call.leave is not known yet
  virtual void leave(const Place&, const Call&) {}
  virtual void message(const Place&, const Message&) {}
  virtual void request_started(const Place&, const Request&) {
  }  // before the leave of the call that did
  // The event is the completion; of a send that was complete when its call returned, which is known
  // by no number, the call's leave.
  virtual void request_completed(const Place&, const Request&, const Event&) {}
  // The request received its message (has_message), but no completion of it will come: the program
  // freed it, its number was given to another request, or the process's trace ends.
  virtual void request_dropped(const Place&, const Request&, std::uint64_t /*time_ns*/) {}
  // Every kind of event without an operation of its own, and completions of requests that are not
  // known.
  virtual void other(const Place&, const Event&) {}
  virtual void process_end(std::size_t /*process*/) {}

  // walk_job only: when the later end was seen, after message().
  virtual void transfer(const Transfer&) {}
};

struct WalkSummary {
  std::uint64_t events = 0;
  std::uint64_t unmatched_sends = 0, unmatched_receives = 0;  // walk_job only
  std::vector<std::string> problems;  // sentences: frames that were damaged, and left out
};
WalkSummary walk_process(const Trace& trace, std::size_t process, Visitor& visitor);
WalkSummary walk_job(const Trace& trace, Visitor& visitor);

}  // namespace fathom::trace

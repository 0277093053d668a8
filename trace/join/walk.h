// SPDX-License-Identifier: BSD-3-Clause
// One pass over a trace as exporters and analyses want it: calls as intervals, messages joined with
// their other end, requests from their start to their completion.
//
// A consumer is a Visitor: a small table of operations over this one walk. walk_process() reads one
// process and ignores the others. walk_job() merges all processes by time and joins messages, for
// which it reads the trace twice (partners.h).
//
// call_tracker.h decides what belongs to which request, and channels.h which message belongs to
// which receive. The analyses use both too, so exports and analyses agree.
//
// Memory: open calls, live requests and messages in flight; walk_job needs 8 bytes more for each
// message of the trace, in temporary files if there are many.
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

// One call of one thread. `leave` is complete only when the call has been left.
struct Call {
  Event enter, leave;
  std::uint32_t depth = 0;  // 0: not inside another call
  bool cut = false;         // no leave was recorded; leave.time_ns is the process's last moment

  std::uint64_t request() const { return leave.request ? leave.request : enter.request; }
};

enum class RequestKind : std::uint8_t { kOther, kSend, kReceive, kCollective };

// Lives from the call that starts it (a persistent one: each start) to the wait or test that
// completes it.
struct Request {
  std::uint64_t number = 0;
  std::uint64_t started_ns = 0;
  Event posted;   // the enter event with peer, tag and communicator; persistent: of MPI_…_init
  Event message;  // the message it received, if has_message
  std::uint64_t sent = 0;  // Message::number of the message it sends; 0: none, or unknown
  RequestKind kind = RequestKind::kOther;
  bool persistent = false;
  bool active = false;
  bool has_message = false;
  bool cancelled = false;
};

struct Message {
  Event event;                   // kMessageSent or kMessageReceived
  std::uint64_t id = 0;          // the same at both ends; 0 in walk_process
  std::uint64_t number = 0;      // position among the messages of its process, from 1
  bool hidden = false;           // sent by the library itself, for example inside a collective
  bool nonblocking = false;      // a request of the program completes it
  const Call* inside = nullptr;  // the innermost call open on its thread
};

struct MessageKey {
  std::int32_t communicator = 0, source = 0, destination = 0, tag = 0;  // world ranks
  bool operator==(const MessageKey&) const = default;
};

struct MessageEnd {
  std::uint64_t id = 0;  // from 1; both ends have the same
  std::uint64_t time_ns = 0, bytes = 0;
  std::uint64_t posted_ns = 0;  // when the call that sends or receives it began
  std::size_t process = 0;
  std::uint32_t thread = 0;
  std::uint32_t message_class = 0;
};

// A message whose two ends are known.
struct Transfer {
  MessageKey key;
  MessageEnd sent, received;
};

// Called in the time order of each thread. Override only what you need.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void enter(const Place&, const Call&) {}  // call.leave is not known yet
  virtual void leave(const Place&, const Call&) {}
  virtual void message(const Place&, const Message&) {}
  // Comes before leave() of the call that starts the request.
  virtual void request_started(const Place&, const Request&) {}
  // The event is the completion. A send that was complete when its call returned has no number; its
  // event is the call's leave.
  virtual void request_completed(const Place&, const Request&, const Event&) {}
  // The request received its message (has_message), but its completion will never come: the program
  // freed it, another request has its number now, or the process's trace ends.
  virtual void request_dropped(const Place&, const Request&, std::uint64_t /*time_ns*/) {}
  // Every event that has no function of its own here, and completions of unknown requests.
  virtual void other(const Place&, const Event&) {}
  virtual void process_end(std::size_t /*process*/) {}

  // walk_job only: called after message() for the later end.
  virtual void transfer(const Transfer&) {}
};

struct WalkSummary {
  std::uint64_t events = 0;
  std::uint64_t unmatched_sends = 0, unmatched_receives = 0;  // walk_job only
  std::vector<std::string> problems;  // one sentence for each damaged frame that was left out
};
WalkSummary walk_process(const Trace& trace, std::size_t process, Visitor& visitor);
WalkSummary walk_job(const Trace& trace, Visitor& visitor);

}  // namespace fathom::trace

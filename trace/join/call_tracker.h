// SPDX-License-Identifier: BSD-3-Clause
// Follows one process's calls, requests and messages, event by event: which call is open, which
// request a message belongs to, what a completion completes. This is the only such state machine:
// exporters (walk.h) and analyses (analysis/engine/step_recorder.h) both use it, so they agree.
//
// A request is recorded as its address, which the library reuses. Each request is therefore followed
// from the call that makes it to the call that completes or frees it. Three cases need care:
//   - A send is recorded when the library takes it, before it has a request. It belongs to the call
//     that is open on its thread, or to the persistent send that this call has started.
//   - A receive may be complete before the call that posts it has returned its request.
//   - Open MPI gives all sends that are complete when their call returns the same request. Each
//     completion of that request belongs to the earliest of these sends.
// With PERUSE, whichever thread makes progress reports a message, also that of another thread's receive. It
// is given to the thread whose open call receives it: that in which its request became active (kTransfer), or,
// if the trace has no such steps, the thread whose receive was posted first of those that take such a message
// (MPI 4.1, 3.5).
// A message that MPI_Mprobe or MPI_Improbe has taken is followed by its handle to the call that receives
// it. Where the trace of a flight recorder begins, it names those that probes hold (Opening), and these
// have their places before everything else; begin() is told. A trace of an earlier Fathom does not name
// the handle: there the message has its place among those of its channel from that call on, not from the
// probe.
//
// A consumer derives from CallTracker<Consumer, CallData, RequestData>; CallData and RequestData are
// what it keeps with each open call and each request. It defines the functions below. They are
// called statically and not virtually, because this is the hot loop of every analysis.
//   entered(OpenCall&, const Event&)
//   left(OpenCall&, const Event& leave)    call.cut: no leave was recorded; only its time is valid
//   MessageNumber new_message(const Event&, const OpenCall*)
//       numbers a message, hidden or not, before sent() or received()
//   sent(const Event&, MessageNumber, OpenCall*, bool by_request)
//   received(const Event&, MessageNumber, const OpenCall*, Request*, const Channels::Posted* place)
//       place: what post() returned when its request was posted, or when a probe took the message; null
//       if it has its place from now on
//   post(key), withdrawn(posted), never_received(posted)
//       pass these on to Channels, which pairs messages
//   request_made(Request&, OpenCall&)      before it is active; persistent ones too
//   activated(Request&, const OpenCall*)   each start, with the open call; may set `message`
//   request_started(Request&, time_ns)     each start too, but of a non-blocking call at its return
//   request_dropped(Request&)              freed, or another request has its number now
//   complete_at_return(OpenCall&, const Event& leave)   the call returned no request of its own
//   given(Request&, const Event&)          left active by a call that waited for any of several; or found
//                                          to be complete by one that leaves it as it is
//   completed(const Event&, Request*, MessageNumber, bool ends)
//       nullptr: no such request is active. ends: no more completions of it follow.
//   lost(const Event&)                     kLost or kPause
//   other(const Event&)                    every event without a function of its own
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "trace/definitions.h"
#include "trace/event.h"
#include "trace/join/channels.h"
#include "trace/meanings.h"

namespace fathom::trace {

using MessageNumber = std::uint32_t;
inline constexpr MessageNumber kNoMessage = ~MessageNumber{0};

template <typename Consumer, typename CallData, typename RequestData>
class CallTracker {
 public:
  using Thread = std::uint32_t;

  struct OpenCall {
    std::uint64_t enter_ns = 0;
    std::uint64_t request = kNoRequest;  // the one in the enter event
    std::uint32_t function = 0;
    MessageNumber sent = kNoMessage;                     // sent by the request that it makes
    std::int32_t communicator = -1, peer = -1, tag = 0;  // as posted
    std::int32_t peer2 = -1, tag2 = 0;                   // of the receive, if it sends too
    std::uint32_t thread = 0, depth = 0;                 // depth 0: not inside another call
    bool cut = false;
    bool received = false;  // the message that it receives without a request
    Channels::Posted held;  // the place of the message that it receives, if a probe holds that
    std::vector<std::uint64_t> started;  // persistent sends whose message has not come yet
    CallData data{};
  };

  struct Request {
    std::uint64_t number = kNoRequest;
    std::uint64_t posted_ns = 0;
    std::uint64_t order = 0;  // position in the order of activation
    Channels::Posted posted;
    MessageNumber message = kNoMessage;  // the one it sends or received
    std::int32_t communicator = -1, peer = -1, tag = 0;
    Group group = Group::kOther;
    bool persistent = false, active = false, waits = false;  // waits: posted, no message yet
    RequestData data{};
  };

  // `meanings` is indexed by function; both must outlive this. `with_hidden`: also follow the
  // messages that the library sends itself, for example inside collectives. Those of neighbourhood
  // collectives are always followed, because nothing else says who is whose neighbour, and so are the
  // partitions of partitioned communication.
  CallTracker(const Definitions& definitions, const std::vector<mpi::Meaning>& meanings,
              bool with_hidden)
      : definitions_(definitions), meanings_(meanings), with_hidden_(with_hidden) {
    for (const std::string& name : definitions.classes) {
      const mpi::Meaning& means = mpi::meaning_of(name);
      nonblocking_neighbor_.push_back(mpi::is_neighborhood(means.collective) &&
                                      (means.nonblocking() || means.persistent()));
    }
  }

  // Before the first event.
  void begin(const Process& process) {
    if (!process.opening) return;
    for (const Opening::Held& each : process.opening->held) {
      const Channels::Key key{each.communicator, each.peer, each.tag};
      switch (each.state) {
        case HeldState::kHeld: held_[each.message] = consumer().post(key); break;
        case HeldState::kProbed: open_probes_[each.thread] = key; break;
        case HeldState::kReceived: open_receives_[each.thread] = consumer().post(key); break;
      }
    }
  }

  void step(const Event& event) {
    last_ns_ = std::max(last_ns_, event.time_ns);
    switch (event.kind) {
      case EventKind::kEnter: return enter(event);
      case EventKind::kLeave: return leave(event);
      case EventKind::kMessageSent: return sent(event);
      case EventKind::kMessageReceived: return received(event);
      case EventKind::kRequestCompleted: return completed(event);
      case EventKind::kRequestGiven: given(event); break;
      case EventKind::kTransfer: transfer(event); break;
      case EventKind::kLost:
      case EventKind::kPause: consumer().lost(event); break;
      default: break;
    }
    consumer().other(event);
  }

  // After the last event: ends the calls that are still open, and lets go of messages that probes hold.
  void end_open_calls() {
    for (Thread thread = 0; thread < threads_.size(); ++thread) {
      while (!threads_[thread].empty()) cut_call(thread, last_ns_);
    }
    held_.for_each([this](std::uint64_t, Channels::Posted& held) { lose(held); });
    held_.clear();
  }

  std::uint64_t last_ns() const { return last_ns_; }

  OpenCall* innermost(Thread thread) {
    Stack& calls = stack(thread);
    return calls.empty() ? nullptr : &calls.back();
  }

  // Null if no request of this number is followed.
  Request* followed(std::uint64_t number) { return requests_.find(number); }

  template <typename F>
  void for_each_request(F&& f) {
    requests_.for_each([&f](std::uint64_t, Request& request) { f(request); });
  }

  const mpi::Meaning& meaning(std::uint32_t function) const {
    static constexpr mpi::Meaning kUnknown{};
    return function < meanings_.size() ? meanings_[function] : kUnknown;
  }
  bool between_neighbors(const OpenCall* call) const {
    if (call == nullptr) return false;
    const mpi::Meaning& means = meaning(call->function);
    return mpi::is_neighborhood(means.collective) && means.requests == mpi::Requests::kNone;
  }
  // Whether the message is one of a non-blocking or persistent neighbourhood collective, whatever call
  // it is in.
  bool of_nonblocking_neighbor(std::uint32_t message_class) const {
    return message_class < nonblocking_neighbor_.size() && nonblocking_neighbor_[message_class];
  }
  // Whether a request took the message that nobody saw posted. With PERUSE, a blocking receive has a request, too,
  // which is not such a one: the call that is open may have posted it.
  bool is_of_unknown_request(const Event& message, const Request* request,
                             const OpenCall* call) const {
    if (request != nullptr || message.request == kNoRequest) return false;
    if (call == nullptr) return true;
    const mpi::Meaning& means = meaning(call->function);
    return means.nonblocking() || means.persistent() || !posts_receive_of(*call, message);
  }
  // Whether the message is a partition, and its operation is known.
  static bool is_partition(const Event& message) { return message.object != 0; }
  bool hidden(std::uint32_t message_class) const {
    return message_class < definitions_.class_hidden.size() &&
           definitions_.class_hidden[message_class];
  }

 private:
  Consumer& consumer() { return static_cast<Consumer&>(*this); }

  // Whether the call posts one receive, and that may take the message.
  bool posts_receive_of(const OpenCall& call, const Event& message) const {
    const Group group = meaning(call.function).group;
    if (group != Group::kReceive && group != Group::kSendReceive) return false;
    const bool sends_too = group == Group::kSendReceive;
    const Channels::Key posted{call.communicator, sends_too ? call.peer2 : call.peer,
                               sends_too ? call.tag2 : call.tag};
    return posted.covers({message.communicator, message.peer, message.tag});
  }

  using Stack = std::vector<OpenCall>;
  static constexpr std::size_t kMostEarlier = 1 << 16;

  Stack& stack(Thread thread) {
    if (threads_.size() <= thread) threads_.resize(thread + 1);
    return threads_[thread];
  }
  void enter(const Event& event) {
    Stack& calls = stack(event.thread);
    OpenCall& call = calls.emplace_back();
    call.thread = event.thread;
    call.depth = static_cast<std::uint32_t>(calls.size() - 1);
    call.enter_ns = event.time_ns;
    call.request = event.request;
    call.function = event.function;
    call.communicator = event.communicator;
    call.peer = event.peer;
    call.tag = event.tag;
    call.peer2 = event.peer2;
    call.tag2 = event.tag2;
    if (event.object != 0 && meaning(event.function).group == Group::kReceive)
      take_held(call, event.object);
    consumer().entered(call, event);
    const mpi::Requests does = meaning(event.function).requests;
    if (does == mpi::Requests::kFrees) return free_request(event.request);
    if (does != mpi::Requests::kStarts || event.request == kNoRequest) return;
    Request* request = requests_.find(event.request);
    if (request && !request->active) start(*request, event.time_ns, event.thread);
  }

  // After a loss of records, a leave whose enter is missing closes nothing, and calls still open
  // inside the one that is left are cut.
  void leave(const Event& event) {
    Stack& calls = stack(event.thread);
    const auto found = std::find_if(calls.rbegin(), calls.rend(), [&](const OpenCall& call) {
      return call.function == event.function;
    });
    if (found == calls.rend()) return leave_unknown(event);
    const auto depth = static_cast<std::size_t>(calls.rend() - found);
    while (calls.size() > depth) cut_call(event.thread, event.time_ns);
    make_request(event);
    if (event.object != 0 && meaning(event.function).takes_message)
      hold({calls.back().communicator, calls.back().peer, calls.back().tag}, event.object);
    let_go(calls.back().held);
    consumer().left(calls.back(), event);
    calls.pop_back();
  }

  // Of calls that were entered before a flight recorder's trace, only probes that take messages and
  // receives of such messages are of interest.
  void leave_unknown(const Event& event) {
    if (Channels::Posted* const held = open_receives_.find(event.thread)) {
      if (event.request != kNoRequest) {
        wait_with(*held, event);
      } else {
        lose(*held);
      }
      open_receives_.erase(event.thread);
    }
    const Channels::Key* const asked = open_probes_.find(event.thread);
    if (asked == nullptr || !meaning(event.function).takes_message) return;
    if (event.object != 0) hold(*asked, event.object);
    open_probes_.erase(event.thread);
  }

  // The request of an MPI_Imrecv.
  void wait_with(const Channels::Posted& held, const Event& leave) {
    Request& request = requests_[leave.request];
    request = {};
    request.number = leave.request;
    request.posted_ns = leave.time_ns;
    request.order = ++last_order_;
    request.posted = held;
    request.communicator = held.key.communicator;
    request.peer = held.key.source;
    request.tag = held.key.tag;
    request.group = Group::kReceive;
    request.active = request.waits = true;
  }

  // A probe has taken a message.
  void hold(const Channels::Key& asked, std::uint64_t handle) {
    if (asked.source == kNullProcess) return;
    Channels::Posted& held = held_[handle];
    let_go(held);  // nobody has seen the call that received the message of this handle before
    held = consumer().post(asked);
  }
  void take_held(OpenCall& receive, std::uint64_t handle) {
    const Channels::Posted* const held = held_.find(handle);
    if (held == nullptr) return;
    receive.held = *held;
    held_.erase(handle);
  }
  void let_go(Channels::Posted& held) {
    if (held.order != 0) consumer().withdrawn(std::exchange(held, {}));
  }

  // The program has the message, or may still receive it, but the trace does not say when.
  void lose(Channels::Posted& held) {
    if (held.order != 0) consumer().never_received(std::exchange(held, {}));
  }

  void cut_call(Thread thread, std::uint64_t time_ns) {
    OpenCall& call = threads_[thread].back();
    call.cut = true;
    lose(call.held);
    Event leave;
    leave.kind = EventKind::kLeave;
    leave.time_ns = time_ns;
    leave.function = call.function;
    leave.thread = thread;
    consumer().left(call, leave);
    threads_[thread].pop_back();
  }

  // Follows the request that the call made, now that its number is known.
  void make_request(const Event& event) {
    OpenCall& call = stack(event.thread).back();
    const mpi::Meaning& means = meaning(call.function);
    if (!means.persistent() && !means.nonblocking()) return;
    const std::uint64_t number = event.request != kNoRequest ? event.request : call.request;
    if (number == kNoRequest) return consumer().complete_at_return(call, event);
    Request* request = &requests_[number];
    // The receive completed during the call itself, so it is being followed already.
    const bool early = request->active && request->posted_ns >= call.enter_ns &&
                       request->group == Group::kReceive && !request->waits && !request->persistent;
    if (!early) {
      if (request->active && request->group == Group::kReceive) stop_waiting(*request);
      if (request->active && !request->persistent && request->group == Group::kSend) {
        remember_earlier(number, request->message);
      }
      if (request->number != kNoRequest) consumer().request_dropped(*request);
      request = &requests_[number];
      *request = {};
      request->number = number;
      request->message = call.sent;
    }
    request->group = means.group;
    request->communicator = call.communicator;
    request->peer = call.peer;
    request->tag = call.tag;
    request->persistent = means.persistent();
    consumer().request_made(*request, call);
    if (request->persistent) return;
    if (!early) activate(*request, call.enter_ns, event.thread);
    consumer().request_started(*request, event.time_ns);
  }

  void remember_earlier(std::uint64_t number, MessageNumber message) {
    if (message == kNoMessage) return;
    auto& earlier = earlier_[number];
    earlier.push_back(message);
    if (earlier.size() > kMostEarlier) earlier.erase(earlier.begin());
  }

  void start(Request& request, std::uint64_t time_ns, Thread thread) {
    activate(request, time_ns, thread);
    consumer().request_started(request, time_ns);
  }

  void activate(Request& request, std::uint64_t posted_ns, Thread thread) {
    OpenCall* call = innermost(thread);
    request.active = true;
    request.posted_ns = posted_ns;
    request.order = ++last_order_;
    if (request.persistent) request.message = kNoMessage;
    consumer().activated(request, call);
    if (request.persistent && request.group == Group::kSend && call) {
      call->started.push_back(request.number);
    }
    if (request.group != Group::kReceive || request.peer == kNullProcess) return;
    request.waits = true;
    const bool held = call != nullptr && call->held.order != 0;
    request.posted = held ? std::exchange(call->held, {})
                          : consumer().post({request.communicator, request.peer, request.tag});
  }

  void stop_waiting(Request& request) {
    if (!request.waits) return;
    request.waits = false;
    consumer().withdrawn(request.posted);
  }

  void free_request(std::uint64_t number) {
    Request* request = requests_.find(number);
    if (request == nullptr) return;
    stop_waiting(*request);
    consumer().request_dropped(*request);
    requests_.erase(number);
  }

  // Imported traces may name the request in the event.
  bool belongs_to_request(const Event& event, OpenCall* call, MessageNumber message) {
    if (call == nullptr) return false;
    const mpi::Requests does = meaning(call->function).requests;
    if (does == mpi::Requests::kMakesAndStarts) {
      call->sent = message;
      return true;
    }
    if (does != mpi::Requests::kStarts || call->started.empty()) return false;
    auto first = call->started.begin();
    if (event.request != kNoRequest) {
      first = std::find(call->started.begin(), call->started.end(), event.request);
    }
    if (first == call->started.end()) return false;
    if (Request* request = requests_.find(*first)) request->message = message;
    call->started.erase(first);
    return true;
  }

  bool leaves_out(const Event& message, const OpenCall* call) const {
    return hidden(message.code) && !with_hidden_ && !between_neighbors(call) &&
           !of_nonblocking_neighbor(message.code) && !is_partition(message);
  }

  void sent(const Event& event) {
    const bool is_hidden = hidden(event.code);
    OpenCall* call = innermost(event.thread);
    if (leaves_out(event, call)) return;
    const MessageNumber number = consumer().new_message(event, call);
    const bool by_request = !is_hidden && belongs_to_request(event, call, number);
    consumer().sent(event, number, call, by_request);
  }

  // Only where several threads communicate does it matter which of them it was.
  void transfer(const Event& event) {
    if (threads_.size() < 2 || !event.receiving) return;
    if (static_cast<TransferStep>(event.code) == TransferStep::kActivate)
      activated_by_[event.request] = event.thread;
  }

  bool may_receive(const OpenCall* call, const Event& message, bool is_hidden) const {
    if (call == nullptr || call->received) return false;
    if (!is_hidden)
      return !meaning(call->function).persistent() && posts_receive_of(*call, message);
    const mpi::Meaning& means = meaning(call->function);
    return means.collective != mpi::Collective::kNone && means.requests == mpi::Requests::kNone &&
           call->communicator == message.communicator;
  }

  // The thread whose open call receives the message; the event's own if there is no other.
  Thread thread_that_receives(const Event& event, bool is_hidden) {
    if (threads_.size() < 2 || event.request == kNoRequest) return event.thread;
    const Request* const request = requests_.find(event.request);
    if (request != nullptr && !has_message(*request)) return event.thread;
    if (const Thread* const activated_by = activated_by_.find(event.request))
      return may_receive(innermost(*activated_by), event, is_hidden) ? *activated_by : event.thread;
    if (is_hidden) return event.thread;
    Thread first = event.thread;
    std::uint64_t posted_ns = ~std::uint64_t{0};
    for (Thread thread = 0; thread < threads_.size(); ++thread) {
      const OpenCall* const call = innermost(thread);
      if (!may_receive(call, event, is_hidden) || call->enter_ns >= posted_ns) continue;
      posted_ns = call->enter_ns;
      first = thread;
    }
    return first;
  }

  // Its message has come, and no other will: another request may have its number before it is seen complete.
  static bool has_message(const Request& request) {
    return request.active && !request.persistent && request.group == Group::kReceive &&
           !request.waits && request.message != kNoMessage;
  }

  // The receive that the event belongs to. It is created here if its call has not returned yet.
  Request* receiving(const Event& event) {
    if (event.request == kNoRequest) return nullptr;
    Request* request = requests_.find(event.request);
    const OpenCall* call = innermost(event.thread);
    if (request == nullptr && call != nullptr) {
      const mpi::Meaning& means = meaning(call->function);
      if (!means.nonblocking() || means.group != Group::kReceive) return nullptr;
      request = &requests_[event.request];
      request->number = event.request;
      request->group = Group::kReceive;
      request->communicator = call->communicator;
      request->peer = call->peer;
      request->tag = call->tag;
      activate(*request, call->enter_ns, event.thread);
    }
    if (request == nullptr || request->group != Group::kReceive) return nullptr;
    if (has_message(*request) && !is_partition(event)) return nullptr;
    if (request->persistent && !request->active) start(*request, event.time_ns, event.thread);
    return request;
  }

  void received(const Event& event) {
    const bool is_hidden = hidden(event.code);
    const Thread thread = thread_that_receives(event, is_hidden);
    if (thread == event.thread) return received(event, is_hidden);
    Event there = event;
    there.thread = thread;
    received(there, is_hidden);
  }

  void received(const Event& event, bool is_hidden) {
    OpenCall* call = innermost(event.thread);
    if (leaves_out(event, call)) return;
    Request* request = is_hidden ? nullptr : receiving(event);
    const MessageNumber number = consumer().new_message(event, call);
    Channels::Posted place;
    if (request != nullptr && request->waits) {
      request->message = number;
      request->waits = false;
      place = request->posted;
    } else if (request == nullptr && !is_hidden && call != nullptr && call->held.order != 0 &&
               call->held.key.covers({event.communicator, event.peer, event.tag})) {
      place = std::exchange(call->held, {});
    } else if (call == nullptr && request == nullptr && !is_hidden) {
      Channels::Posted* const held = open_receives_.find(event.thread);
      if (held != nullptr && held->key.covers({event.communicator, event.peer, event.tag})) {
        place = std::exchange(*held, {});
        open_receives_.erase(event.thread);
      }
    }
    if (call != nullptr && request == nullptr && !is_hidden) call->received = true;
    consumer().received(event, number, call, request, place.order == 0 ? nullptr : &place);
  }

  void completed(const Event& event) {
    Request* request = requests_.find(event.request);
    if (request == nullptr || !request->active) {
      return consumer().completed(event, nullptr, kNoMessage, true);
    }
    stop_waiting(*request);
    MessageNumber message = request->message;
    auto* earlier = earlier_.find(event.request);
    const bool ends = earlier == nullptr || earlier->empty();
    if (!ends) {
      message = earlier->front();
      earlier->erase(earlier->begin());
    }
    consumer().completed(event, request, message, ends);
    if (!ends) return;
    if (request->persistent) {
      request->active = false;
      request->message = kNoMessage;
    } else {
      requests_.erase(event.request);
    }
  }

  void given(const Event& event) {
    const OpenCall* call = innermost(event.thread);
    Request* request = requests_.find(event.request);
    if (!call || !request) return;
    const mpi::Meaning& means = meaning(call->function);
    if (means.requests == mpi::Requests::kStarts && !request->active) {
      start(*request, event.time_ns, event.thread);
    } else if (request->active && (means.completes == mpi::Completes::kSome ||
                                   means.sees != mpi::Completes::kNothing)) {
      consumer().given(*request, event);
    }
  }

  const Definitions& definitions_;
  const std::vector<mpi::Meaning>& meanings_;
  const bool with_hidden_;
  std::vector<bool> nonblocking_neighbor_;  // by class of message
  std::vector<Stack> threads_;
  base::FlatMap<std::uint64_t, Request> requests_;
  base::FlatMap<std::uint64_t, std::vector<MessageNumber>> earlier_;
  base::FlatMap<std::uint64_t, Thread> activated_by_;    // by request of a receive
  base::FlatMap<std::uint64_t, Channels::Posted> held_;  // by handle of the message
  // By thread, where the trace begins.
  base::FlatMap<std::uint64_t, Channels::Key> open_probes_;
  base::FlatMap<std::uint64_t, Channels::Posted> open_receives_;
  std::uint64_t last_order_ = 0;
  std::uint64_t last_ns_ = 0;
};

}  // namespace fathom::trace

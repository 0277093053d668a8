// SPDX-License-Identifier: BSD-3-Clause
#include "trace/join/walk.h"

#include <algorithm>
#include <memory>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/meanings.h"

namespace fathom::trace {
namespace {

using mpi::Requests;

RequestKind kind_of(Group group) {
  switch (group) {
    case Group::kSend: return RequestKind::kSend;
    case Group::kReceive: return RequestKind::kReceive;
    case Group::kCollective: return RequestKind::kCollective;
    default: return RequestKind::kOther;
  }
}

// What is the same for all processes.
struct Shared {
  explicit Shared(const Definitions& all) : definitions(all), meanings(trace::meanings(all)) {}
  mpi::Meaning meaning(std::uint32_t function) const {
    return function < meanings.size() ? meanings[function] : mpi::Meaning{};
  }
  bool hidden(std::uint32_t message_class) const {
    return message_class < definitions.class_hidden.size() &&
           definitions.class_hidden[message_class];
  }

  const Definitions& definitions;
  std::vector<mpi::Meaning> meanings;
};

// Receives of the program that are posted and name one source and one tag, in the order of posting.
class PostedReceives {
 public:
  using Order = std::uint64_t;

  Order next_order() { return ++last_order_; }

  void add(const MessageKey& key, Order order) { waiting_[key].push_back(order); }

  std::size_t count_before(const MessageKey& key, Order order) const {
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return 0;
    const auto& orders = found->second;
    return static_cast<std::size_t>(std::lower_bound(orders.begin(), orders.end(), order) -
                                    orders.begin());
  }

  void remove(const MessageKey& key, Order order) {
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return;
    auto& orders = found->second;
    const auto place = std::lower_bound(orders.begin(), orders.end(), order);
    if (place != orders.end() && *place == order) orders.erase(place);
    if (orders.empty()) waiting_.erase(found);
  }

 private:
  struct Hash {
    std::size_t operator()(const MessageKey& key) const {
      const auto high = static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.source)) << 32;
      return (high ^ static_cast<std::uint32_t>(key.tag) ^
              static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.communicator)) << 20) *
             0x9e3779b97f4a7c15u;
    }
  };
  std::unordered_map<MessageKey, std::vector<Order>, Hash> waiting_;
  Order last_order_ = 0;
};

class ProcessWalk {
 public:
  // `matcher`: nullptr where messages are not joined.
  ProcessWalk(const Shared& shared, std::size_t process, Visitor& visitor, MessageMatcher* matcher)
      : shared_(shared), visitor_(visitor), matcher_(matcher) {
    place_.process = process;
    place_.rank = static_cast<std::int32_t>(shared.definitions.processes[process].rank);
  }

  void step(const Event& event);
  void finish();

 private:
  struct Tracked : Request {
    PostedReceives::Order order = 0;
    // Open MPI gives all sends that were complete at once the same number: what those before this
    // one sent.
    std::vector<std::uint64_t> earlier_sent;
  };
  static constexpr std::size_t kMostEarlier = 1 << 16;

  struct OpenCall : Call {
    std::uint64_t sent = 0;  // the message that the request it makes sends
    std::vector<std::uint64_t>
        started;  // persistent sends that it started and whose message did not come yet
  };

  void enter(const Event& event);
  void leave(const Event& event);
  void start_request(const OpenCall& call, const mpi::Meaning& meaning);
  void activate(Tracked& request, std::uint64_t time_ns);
  void drop(const Tracked& request);
  void drop_all();
  void sent(const Event& event);
  bool belongs_to_request(const Event& event, std::uint64_t number);
  void received(const Event& event);
  void completed(const Event& event);
  void given(const Event& event);
  MessageKey posted_key(const Request& request) const;
  static bool names_one_message(const Request& request);
  MessageEnd end_of(const Event& event, const Request* request);

  std::vector<OpenCall>& stack() {
    if (stacks_.size() <= place_.thread) stacks_.resize(place_.thread + 1);
    return stacks_[place_.thread];
  }
  OpenCall* inside() {
    auto& calls = stack();
    return calls.empty() ? nullptr : &calls.back();
  }

  const Shared& shared_;
  Visitor& visitor_;
  MessageMatcher* matcher_;
  Place place_;
  std::uint64_t last_ns_ = 0;
  std::vector<std::vector<OpenCall>> stacks_;  // by thread
  std::uint64_t messages_ = 0;
  std::unordered_map<std::uint64_t, Tracked> requests_;
  PostedReceives posted_;
};

MessageKey ProcessWalk::posted_key(const Request& request) const {
  return {request.posted.communicator, request.posted.peer, place_.rank, request.posted.tag};
}

bool ProcessWalk::names_one_message(const Request& request) {
  return request.kind == RequestKind::kReceive && request.posted.peer >= 0 &&
         request.posted.tag != kAnyTag;
}

MessageEnd ProcessWalk::end_of(const Event& event, const Request* request) {
  MessageEnd end;
  end.posted_ns = request && request->started_ns ? request->started_ns : event.time_ns;
  if (!request && inside()) end.posted_ns = inside()->enter.time_ns;
  end.time_ns = event.time_ns;
  end.bytes = event.bytes;
  end.process = place_.process;
  end.thread = event.thread;
  end.message_class = event.code;
  return end;
}

void ProcessWalk::enter(const Event& event) {
  auto& calls = stack();
  OpenCall& call = calls.emplace_back();
  call.enter = event;
  call.leave.function = event.function;
  call.depth = static_cast<std::uint32_t>(calls.size() - 1);
  visitor_.enter(place_, call);
  if (shared_.meaning(event.function).requests == Requests::kFrees) {
    const auto found = requests_.find(event.request);
    if (found == requests_.end()) return;
    if (found->second.kind == RequestKind::kReceive)
      posted_.remove(posted_key(found->second), found->second.order);
    drop(found->second);
    requests_.erase(found);
    return;
  }
  if (shared_.meaning(event.function).requests != Requests::kStarts || !event.request) return;
  const auto found = requests_.find(event.request);
  if (found != requests_.end() && !found->second.active) activate(found->second, event.time_ns);
}

// A leave without its enter (records were lost) closes nothing; open calls above the one that is
// left lost theirs.
void ProcessWalk::leave(const Event& event) {
  auto& calls = stack();
  const auto open = std::find_if(calls.rbegin(), calls.rend(), [&](const OpenCall& call) {
    return call.enter.function == event.function;
  });
  if (open == calls.rend()) return;
  const auto depth = static_cast<std::size_t>(calls.rend() - open) - 1;
  while (calls.size() > depth + 1) {
    calls.back().cut = true;
    calls.back().leave.time_ns = event.time_ns;
    visitor_.leave(place_, calls.back());
    calls.pop_back();
  }
  OpenCall& call = calls.back();
  call.leave = event;
  start_request(call, shared_.meaning(event.function));
  visitor_.leave(place_, call);
  calls.pop_back();
}

void ProcessWalk::start_request(const OpenCall& call, const mpi::Meaning& meaning) {
  if (!meaning.persistent() && !meaning.nonblocking()) return;
  if (call.request() == kNoRequest && call.sent != 0) {  // complete when its call returned
    Request request;
    request.started_ns = call.leave.time_ns;
    request.posted = call.enter;
    request.kind = kind_of(meaning.group);
    request.sent = call.sent;
    visitor_.request_completed(place_, request, call.leave);
  }
  if (call.request() == kNoRequest) return;
  Tracked& request = requests_[call.request()];
  if (request.active && request.kind == RequestKind::kReceive)
    posted_.remove(posted_key(request), request.order);
  // What it received or sent during the call itself is known already.
  const bool early = request.number != 0 && request.posted.time_ns >= call.enter.time_ns;
  std::vector<std::uint64_t> earlier_sent;
  if (request.active && request.sent != 0 && !request.persistent) {
    earlier_sent.swap(request.earlier_sent);
    earlier_sent.push_back(request.sent);
    if (earlier_sent.size() > kMostEarlier) earlier_sent.erase(earlier_sent.begin());
  }
  if (!early) {
    drop(request);
    request = {};
  }
  request.earlier_sent.swap(earlier_sent);
  request.number = call.request();
  request.posted = call.enter;
  request.kind = kind_of(meaning.group);
  request.sent = call.sent;
  request.persistent = meaning.persistent();
  request.active = false;
  if (!request.persistent) activate(request, call.leave.time_ns);
}

void ProcessWalk::drop(const Tracked& request) {
  if (request.has_message) visitor_.request_dropped(place_, request, last_ns_);
}

void ProcessWalk::drop_all() {
  std::vector<const Tracked*> left;
  for (const auto& [number, request] : requests_) left.push_back(&request);
  std::sort(left.begin(), left.end(),
            [](const Tracked* a, const Tracked* b) { return a->order < b->order; });
  for (const Tracked* request : left) {
    place_.thread = request->message.thread;
    drop(*request);
  }
}

void ProcessWalk::activate(Tracked& request, std::uint64_t time_ns) {
  request.active = true;
  request.cancelled = false;
  request.started_ns = time_ns;
  request.order = posted_.next_order();
  if (request.persistent) request.has_message = false;
  if (request.persistent && request.kind == RequestKind::kSend && inside()) {
    request.sent = 0;
    inside()->started.push_back(request.number);
  }
  if (matcher_ && !request.has_message && names_one_message(request)) {
    posted_.add(posted_key(request), request.order);
  }
  visitor_.request_started(place_, request);
}

// Sends are recorded where the library gets them, which knows no request yet: the call that the
// message is sent in tells. (Traces of other tools may name the request.)
bool ProcessWalk::belongs_to_request(const Event& event, std::uint64_t number) {
  OpenCall* call = inside();
  if (!call) return false;
  const Requests requests = shared_.meaning(call->enter.function).requests;
  if (requests == Requests::kMakesAndStarts) {
    call->sent = number;
    return true;
  }
  if (requests != Requests::kStarts || call->started.empty()) return false;
  auto first = call->started.begin();
  if (event.request != kNoRequest)
    first = std::find(call->started.begin(), call->started.end(), event.request);
  if (first == call->started.end()) return false;
  requests_[*first].sent = number;
  call->started.erase(first);
  return true;
}

void ProcessWalk::sent(const Event& event) {
  Message message;
  message.event = event;
  message.hidden = shared_.hidden(event.code);
  message.inside = inside();
  message.number = ++messages_;
  message.nonblocking = !message.hidden && belongs_to_request(event, message.number);
  std::optional<MessageEnd> other;
  MessageEnd end = end_of(event, nullptr);
  const MessageKey key{event.communicator, place_.rank, event.peer, event.tag};
  if (matcher_) other = matcher_->send(key, end);
  message.id = end.id;
  visitor_.message(place_, message);
  if (other) visitor_.transfer({key, end, *other});
}

void ProcessWalk::received(const Event& event) {
  Message message;
  message.event = event;
  message.number = ++messages_;
  message.hidden = shared_.hidden(event.code);
  message.inside = inside();
  const MessageKey key{event.communicator, event.peer, place_.rank, event.tag};
  Tracked* request = nullptr;
  if (!message.hidden && event.request != kNoRequest) {
    auto found = requests_.find(event.request);
    const Requests does =
        message.inside ? shared_.meaning(message.inside->enter.function).requests : Requests::kNone;
    // Complete before the call that posts it has returned.
    if (found == requests_.end() && does == Requests::kMakesAndStarts) {
      found = requests_.emplace(event.request, Tracked{}).first;
      found->second.number = event.request;
      found->second.posted.time_ns = event.time_ns;
      found->second.order = posted_.next_order();
    }
    if (found != requests_.end()) request = &found->second;
  }
  if (request && request->persistent && !request->active) activate(*request, event.time_ns);
  const auto order = request ? request->order : posted_.next_order();
  MessageEnd end = end_of(event, request);
  std::optional<MessageEnd> other;
  if (matcher_) {
    other = matcher_->receive(key, end, message.hidden ? 0 : posted_.count_before(key, order));
  }
  message.id = end.id;
  if (request) {
    if (matcher_ && names_one_message(*request))
      posted_.remove(posted_key(*request), request->order);
    request->message = event;
    request->has_message = true;
    message.nonblocking = true;
  }
  visitor_.message(place_, message);
  if (other) visitor_.transfer({key, *other, end});
}

void ProcessWalk::completed(const Event& event) {
  const auto found = requests_.find(event.request);
  if (found == requests_.end()) return visitor_.other(place_, event);
  Tracked& request = found->second;
  request.cancelled = event.flag == 1;
  if (matcher_ && names_one_message(request)) posted_.remove(posted_key(request), request.order);
  if (!request.earlier_sent.empty()) {
    Request first = request;
    first.sent = request.earlier_sent.front();
    request.earlier_sent.erase(request.earlier_sent.begin());
    return visitor_.request_completed(place_, first, event);
  }
  visitor_.request_completed(place_, request, event);
  if (request.persistent) {
    request.active = request.has_message = false;
  } else {
    requests_.erase(found);
  }
}

void ProcessWalk::given(const Event& event) {
  const Call* call = inside();
  if (!call || shared_.meaning(call->enter.function).requests != Requests::kStarts) return;
  const auto found = requests_.find(event.request);
  if (found != requests_.end() && !found->second.active) activate(found->second, event.time_ns);
}

void ProcessWalk::step(const Event& event) {
  place_.thread = event.thread;
  last_ns_ = std::max(last_ns_, event.time_ns);
  switch (event.kind) {
    case EventKind::kEnter: return enter(event);
    case EventKind::kLeave: return leave(event);
    case EventKind::kMessageSent: return sent(event);
    case EventKind::kMessageReceived: return received(event);
    case EventKind::kRequestCompleted: completed(event); break;
    case EventKind::kRequestGiven: given(event); break;
    case EventKind::kLost:
    case EventKind::kPause:
    case EventKind::kResume:
      if (matcher_) matcher_->forget(place_.rank);
      break;
    default: break;
  }
  if (event.kind != EventKind::kRequestCompleted) visitor_.other(place_, event);
}

void ProcessWalk::finish() {
  for (std::size_t thread = 0; thread < stacks_.size(); ++thread) {
    place_.thread = static_cast<std::uint32_t>(thread);
    auto& calls = stacks_[thread];
    for (; !calls.empty(); calls.pop_back()) {
      calls.back().cut = true;
      calls.back().leave.time_ns = last_ns_;
      visitor_.leave(place_, calls.back());
    }
  }
  drop_all();
  visitor_.process_end(place_.process);
}

// One process on its way through its events.
struct Lane {
  EventCursor cursor;
  Event event;
  std::unique_ptr<ProcessWalk> walk;
};

}  // namespace

WalkSummary walk_process(const Trace& trace, std::size_t process, Visitor& visitor) {
  const Shared shared(trace.definitions());
  ProcessWalk walk(shared, process, visitor, nullptr);
  EventCursor cursor = trace.events(process);
  WalkSummary summary;
  for (Event event; cursor.next(event); ++summary.events) walk.step(event);
  walk.finish();
  summary.problems = cursor.problems();
  return summary;
}

WalkSummary walk_job(const Trace& trace, Visitor& visitor) {
  const Shared shared(trace.definitions());
  MessageMatcher matcher;
  WalkSummary summary;
  std::vector<Lane> lanes;
  using Next = std::pair<std::uint64_t, std::size_t>;  // time, lane
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  const std::size_t processes = trace.definitions().processes.size();
  lanes.reserve(processes);
  for (std::size_t process = 0; process < processes; ++process) {
    lanes.push_back({trace.events(process), Event{},
                     std::make_unique<ProcessWalk>(shared, process, visitor, &matcher)});
    if (lanes[process].cursor.next(lanes[process].event)) {
      next.emplace(lanes[process].event.time_ns, process);
    } else {
      lanes[process].walk->finish();
    }
  }
  while (!next.empty()) {
    const std::size_t here = next.top().second;
    next.pop();
    Lane& lane = lanes[here];
    bool more = true;
    do {
      lane.walk->step(lane.event);
      ++summary.events;
      more = lane.cursor.next(lane.event);
    } while (more && (next.empty() || Next{lane.event.time_ns, here} < next.top()));
    if (more) {
      next.emplace(lane.event.time_ns, here);
    } else {
      lane.walk->finish();
    }
  }
  for (const Lane& lane : lanes) {
    summary.problems.insert(summary.problems.end(), lane.cursor.problems().begin(),
                            lane.cursor.problems().end());
  }
  summary.unmatched_sends = matcher.unmatched_sends();
  summary.unmatched_receives = matcher.unmatched_receives();
  return summary;
}

}  // namespace fathom::trace

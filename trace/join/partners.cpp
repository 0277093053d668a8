// SPDX-License-Identifier: BSD-3-Clause
#include "trace/join/partners.h"

#include <deque>
#include <string>

#include "base/flat_map.h"
#include "trace/join/merged_events.h"
#include "trace/join/opened_channels.h"
#include "trace/meanings.h"

namespace fathom::trace {
namespace {

struct NoData {};

// What the processes share while their messages are joined.
struct Joining {
  std::vector<Channels> channels;  // by receiving process
  base::FlatMap<std::uint64_t, std::uint32_t> process_of_rank;
  Channels::Joined joined;  // joined by the last event
  std::uint64_t sends_to_nobody = 0;
};

// Hands one process's messages to the channels of their receivers. A later walk gives messages the
// same numbers, because both count every message, hidden ones included, in the order of the trace.
class MessageJoiner : public CallTracker<MessageJoiner, NoData, NoData> {
 public:
  MessageJoiner(const Definitions& definitions, const std::vector<mpi::Meaning>& meanings,
                std::uint32_t process, Joining& joining)
      : CallTracker(definitions, meanings, true),
        process_(process),
        rank_(static_cast<std::int32_t>(definitions.processes[process].rank)),
        joining_(joining) {
    begin(definitions.processes[process]);
  }

 private:
  friend CallTracker;

  Channels& own() { return joining_.channels[process_]; }

  void entered(const OpenCall&, const Event&) {}
  void left(const OpenCall&, const Event&) {}
  MessageNumber new_message(const Event&, const OpenCall*) { return ++messages_; }

  void sent(const Event& event, MessageNumber number, const OpenCall*, bool) {
    const auto rank = static_cast<std::uint64_t>(static_cast<std::uint32_t>(event.peer));
    const std::uint32_t* to = event.peer < 0 ? nullptr : joining_.process_of_rank.find(rank);
    if (to == nullptr) {
      ++joining_.sends_to_nobody;
      return;
    }
    joining_.channels[*to].send({event.communicator, rank_, event.tag},
                                {event.time_ns, event.time_ns, process_, number}, joining_.joined);
  }

  void received(const Event& event, MessageNumber number, const OpenCall* open,
                const Request* request, const Channels::Posted* place) {
    const Channels::Key key{event.communicator, event.peer, event.tag};
    const ChannelEnd end{event.time_ns, event.time_ns, process_, number};
    if (place != nullptr) {
      own().receive(key, *place, end, joining_.joined);
    } else {
      own().receive_now(key, end, joining_.joined, is_of_unknown_request(event, request, open));
    }
  }

  Channels::Posted post(const Channels::Key& key) { return own().post(key); }
  void withdrawn(const Channels::Posted& posted) { own().withdraw(posted, joining_.joined); }
  void never_received(const Channels::Posted& posted) {
    own().never_received(posted, joining_.joined);
  }
  void request_made(const Request&, const OpenCall&) {}
  void activated(const Request&, const OpenCall*) {}
  void given(const Request&, const Event&) {}
  void request_started(const Request&, std::uint64_t) {}
  void request_dropped(const Request&) {}
  void complete_at_return(const OpenCall&, const Event&) {}
  void completed(const Event&, const Request*, MessageNumber, bool) {}

  void lost(const Event& event) {
    own().loss_here(event.time_ns, joining_.joined);
    for (Channels& each : joining_.channels) {
      each.loss_at_source(rank_, event.time_ns, joining_.joined);
    }
  }
  void other(const Event&) {}

  const std::uint32_t process_;
  const std::int32_t rank_;
  Joining& joining_;
  MessageNumber messages_ = 0;
};

}  // namespace

void Partners::note(MessageName end, MessageName other) {
  auto& all = by_process_[end.process];
  while (all.size() <= end.number) base::append(all, std::uint64_t{0});
  all[end.number] = other.packed();
}

Partners::Partners(const Trace& trace) : by_process_(trace.definitions().processes.size()) {
  const Definitions& definitions = trace.definitions();
  const std::vector<mpi::Meaning> meanings = trace::meanings(definitions);
  Joining joining;
  joining.channels.resize(by_process_.size());
  std::deque<MessageJoiner> processes;  // never move
  for (std::uint32_t process = 0; process < by_process_.size(); ++process) {
    joining.process_of_rank[definitions.processes[process].rank] = process;
    processes.emplace_back(definitions, meanings, process, joining);
  }
  open_channels(definitions,
                [&joining](std::size_t process) { return &joining.channels[process]; });
  std::vector<std::string> problems;  // ignored, because the walk that follows reports them
  const auto note_joined = [&] {
    for (const JoinedEnds& ends : joining.joined) {
      const MessageName sent{ends.sent.process, ends.sent.step},
          received{ends.received.process, ends.received.step};
      note(sent, received);
      note(received, sent);
    }
    joining.joined.clear();
  };
  merge_events(
      trace,
      [&](std::size_t process, const Event& event) {
        processes[process].step(event);
        note_joined();
      },
      [&](std::size_t process) {
        processes[process].end_open_calls();
        note_joined();
      },
      problems);
  unmatched_.sends = joining.sends_to_nobody;
  for (const Channels& each : joining.channels) {
    const Channels::Unmatched left = each.unmatched();
    unmatched_.sends += left.sends;
    unmatched_.receives += left.receives;
  }
}

}  // namespace fathom::trace

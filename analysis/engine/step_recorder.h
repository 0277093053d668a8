// SPDX-License-Identifier: BSD-3-Clause
// Makes the steps of one process out of its events, and tells what others must know: messages sent,
// collectives taken part in, losses.
//
// The result follows from this process's events alone. Memory: open calls and requests alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/engine/channels.h"
#include "analysis/engine/collectives.h"
#include "analysis/engine/job_facts.h"
#include "analysis/engine/step_file.h"
#include "base/flat_map.h"
#include "trace/definitions.h"
#include "trace/event.h"

namespace fathom::analysis {

struct SentMessage {
  Channels::Key key;
  std::int32_t destination = 0;  // world rank
  MessageEnd end;
};

struct SourceLoss {
  std::int32_t source = 0;  // world rank
  std::int32_t reserved = 0;
  std::uint64_t time_ns = 0;
};

// What the events given so far mean for others. Whoever passes it on clears it.
struct Outgoing {
  std::vector<SentMessage> sent;
  std::vector<Participation> parts;
  std::vector<Closing> closings;
  std::vector<SourceLoss> losses;
  Channels::Joined joined;
};

struct RecorderOptions {
  bool hidden_messages = false;  // make steps of the library's own messages too
};

class StepRecorder {
 public:
  StepRecorder(const JobFacts& facts, std::uint32_t process, RecorderOptions options,
               StepFile& steps, Channels& channels, Outgoing& outgoing);

  void step(const trace::Event& event);
  void finish();

  // Return addresses; kCall's partner_step is a position here.
  const std::vector<std::uint64_t>& sites() const { return sites_; }
  std::uint64_t lost_records() const { return lost_records_; }
  std::uint64_t losses() const { return losses_; }

 private:
  struct OpenCall {
    std::uint64_t enter_ns = 0;
    std::uint32_t step = 0;
    std::uint32_t function = 0;
    std::uint32_t sent = kNobody;        // the kSend that the request it makes stands for
    std::uint32_t collective = kNobody;  // its kCollective
    std::int32_t communicator = -1;
    std::int32_t root = -1;           // world rank
    std::int32_t peer = -1, tag = 0;  // as posted
  };
  struct Request {
    Channels::Posted posted;
    std::uint64_t posted_ns = 0;
    std::uint32_t posted_in = kNobody;  // the call that posted or started it
    std::uint32_t step = kNobody;       // the kSend, kReceive or kCollective that completes with it
    std::int32_t communicator = -1, peer = -1, tag = 0;
    trace::Group group = trace::Group::kOther;
    bool persistent = false, active = false, waits = false;  // waits: posted, no message yet
  };
  struct Thread {
    std::vector<OpenCall> open;
    std::vector<std::uint64_t>
        started;  // persistent sends started by the open call, without a message yet
  };

  void enter(const trace::Event& event);
  void leave(const trace::Event& event);
  void end_call(Thread& thread, std::uint64_t leave_ns, bool cut);
  void take_part(const OpenCall& call, std::uint64_t leave_ns);
  void make_request(Thread& thread, const trace::Event& event);
  void remember_earlier(std::uint64_t number, std::uint32_t step);
  void activate(std::uint64_t number, Request& request, std::uint64_t posted_ns, Thread& thread);
  void free_request(std::uint64_t number);
  void stop_waiting(Request& request);
  Step& append_message(StepKind kind, const trace::Event& event, const Thread& here,
                       std::uint32_t& number);
  void sent(const trace::Event& event);
  bool belongs_to_request(const trace::Event& event, std::uint32_t step);
  void received(const trace::Event& event);
  Request* request_of(const trace::Event& event);
  void completed(const trace::Event& event);
  void phase(const trace::Event& event);
  void lost(const trace::Event& event);
  void close_communicators();
  std::uint32_t site(std::uint64_t address);

  Thread& thread(std::uint32_t number) {
    if (threads_.size() <= number) threads_.resize(number + 1);
    return threads_[number];
  }
  bool hidden(std::uint32_t message_class) const {
    return message_class < facts_.definitions.class_hidden.size() &&
           facts_.definitions.class_hidden[message_class];
  }

  const JobFacts& facts_;
  const std::uint32_t process_;
  const std::int32_t rank_;
  const RecorderOptions options_;
  StepFile& steps_;
  Channels& channels_;
  Outgoing& outgoing_;

  std::vector<Thread> threads_;
  base::FlatMap<std::uint64_t, Request> requests_;
  // Open MPI gives all sends that were complete at once the same number: those before the last of a
  // number.
  base::FlatMap<std::uint64_t, std::vector<std::uint32_t>> earlier_;
  std::vector<std::uint32_t>
      sequences_;                      // by communicator: collectives taken part in in this epoch
  std::vector<std::uint32_t> phases_;  // open ones
  base::FlatMap<std::uint64_t, std::uint32_t> site_numbers_;
  std::vector<std::uint64_t> sites_;
  struct {
    std::uint64_t address = 0;
    std::uint32_t number = kNobody;
  } site_cache_[256];
  std::uint64_t last_ns_ = 0;
  std::uint32_t epoch_ = 0;
  std::uint64_t lost_records_ = 0, losses_ = 0;
  bool incomplete_ = false;  // lost records: its collectives cannot be numbered any more
};

}  // namespace fathom::analysis

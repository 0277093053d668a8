// SPDX-License-Identifier: BSD-3-Clause
// Turns the events of one process into steps, and collects what other processes must know about it:
// messages sent, collectives it took part in, losses.
//
// The result depends on this process's events alone. Memory: open calls and live requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/engine/collectives.h"
#include "analysis/engine/job_facts.h"
#include "analysis/engine/step_file.h"
#include "analysis/engine/windows/epochs.h"
#include "analysis/engine/windows/lock_order.h"
#include "base/flat_map.h"
#include "trace/definitions.h"
#include "trace/event.h"
#include "trace/join/call_tracker.h"
#include "trace/join/channels.h"

namespace fathom::analysis {

using trace::Channels;

struct SentMessage {
  Channels::Key key;
  std::int32_t destination = 0;  // world rank
  trace::ChannelEnd end;
};

struct SourceLoss {
  std::int32_t source = 0;  // world rank
  std::int32_t reserved = 0;
  std::uint64_t time_ns = 0;
};

// A notice that this process hears (epochs.h): a kReceive with kNotice.
struct HeardNotice {
  Channels::Key key;
  trace::ChannelEnd end;
};

// A call that may have waited before it told others something: MPI_Win_complete.
struct AccessEnd {
  std::uint32_t process = 0, call = 0;
};

// What the events so far mean for other processes. The caller delivers it and then clears it.
struct Outgoing {
  std::vector<SentMessage> sent, notices;
  std::vector<HeardNotice> heard;      // by this process
  std::vector<AccessEnd> access_ends;  // of this process
  std::vector<LockCall> locks;         // of this process
  std::vector<Participation> parts;
  std::vector<Closing> closings;
  std::vector<SourceLoss> losses;
  Channels::Joined joined;
};

struct RecorderOptions {
  bool hidden_messages = false;  // also make steps for the library's own messages
};

// What the tracker keeps with each call and request. Request::message is the number of the kSend,
// kReceive or kCollective step that the request completes.
struct CallSteps {
  std::uint32_t step = 0;
  std::uint32_t collective = kNobody;  // its kCollective step
  std::int32_t root = -1;              // world rank, or trace::kIsRoot, or trace::kTakesNoPart
  std::uint64_t object = 0;            // the window, file or message that it was given
  trace::LockType lock = trace::LockType::kUnknown;
  bool completed = false;         // a request
  std::int32_t neighbor_tag = 0;  // of its messages, if it is a non-blocking neighbourhood
                                  // collective and has sent or received one
  // Persistent neighbourhood collectives that it has started, and that have no such tag yet.
  std::vector<std::uint64_t> starting;
};
// A persistent collective; its request is started any number of times.
struct PersistentCollective {
  std::uint32_t name = 0;      // PersistentName
  std::uint32_t function = 0;  // one number for functions that meet each other
  std::uint32_t starts = 0;    // in this epoch
  std::int32_t root = -1;      // as CallSteps::root
  bool carries = false;        // this process sends data
};
struct RequestSteps {
  std::uint32_t posted_in = kNobody;  // the call that posted or started it
  std::vector<std::uint32_t> given;   // kGiven and kProbe steps of a receive without a message yet
  std::uint64_t held = 0;  // the handle of the message that it receives, if a probe took that
  std::int32_t neighbor_tag = 0;  // as in CallSteps
  // The kSend or kReceive steps of a partitioned operation since it was started.
  std::vector<std::uint32_t> partitions;
  PersistentCollective collective;
};

class StepRecorder : private trace::CallTracker<StepRecorder, CallSteps, RequestSteps> {
 public:
  StepRecorder(const JobFacts& facts, std::uint32_t process, RecorderOptions options,
               StepFile& steps, Channels& channels, Outgoing& outgoing);

  void step(const trace::Event& event) { CallTracker::step(event); }
  void finish();

  // Calls at windows that step() has not shown to be left were entered no earlier than this, if the next
  // event comes at `now_ns`.
  std::uint64_t locks_known_until(std::uint64_t now_ns) const { return locks_.oldest_ns(now_ns); }

  // Return addresses; kCall's partner_step is a position here.
  const std::vector<std::uint64_t>& sites() const { return sites_; }
  std::uint64_t lost_records() const { return lost_records_; }
  std::uint64_t losses() const { return losses_; }
  // ProcessSummary; 0 in a trace from the first.
  std::uint64_t of_unknown_objects() const { return of_unknown_objects_; }

 private:
  using Tracker = trace::CallTracker<StepRecorder, CallSteps, RequestSteps>;
  friend Tracker;

  // The kSend and kReceive steps of a non-blocking neighbourhood collective.
  struct Neighbors {
    std::uint32_t call = kNobody;  // that began it
    std::vector<std::uint32_t> messages;
  };

  void entered(OpenCall& call, const trace::Event& event);
  void left(const OpenCall& call, const trace::Event& leave);
  bool continues_poll(const OpenCall& call, const trace::Event& enter) const;
  Step& step_of_call(OpenCall& call, const trace::Event& enter);
  void begin_collective(OpenCall& call, const trace::Event& enter);
  void place_in_new_communicator(const OpenCall& call, const trace::Event& leave);
  void take_part(const OpenCall& call, std::uint64_t leave_ns);
  void make_persistent(Request& request, const OpenCall& call);
  void follow_objects(const OpenCall& call, const trace::Event& leave);
  std::optional<WindowName> window_of(const OpenCall& call) const;
  void note_unknown_object(const trace::Event& enter);
  void tell(const OpenCall& call, const std::vector<NoticeEnd>& ends, std::uint64_t time_ns);
  void hear(const OpenCall& call, const std::vector<NoticeEnd>& ends, std::uint64_t time_ns);
  void end_in_epoch(const OpenCall& call, const trace::Event& leave);
  void end_in_lock(const OpenCall& call, const trace::Event& leave);
  void give_up(const WindowName& window, LockEpochs::Attempt attempt, std::uint64_t time_ns);
  void give_up_locks(std::uint64_t time_ns);
  Step& new_notice(StepKind kind, const OpenCall& call, std::uint64_t time_ns,
                   std::uint32_t& number);
  void probed(const OpenCall& call, const trace::Event& leave);
  void saw_complete(Request* request, const OpenCall& call, const trace::Event& event);
  void saw_part(std::uint32_t part, const OpenCall& call, const trace::Event& event);
  void found_by_probe(const trace::Event& message, std::uint64_t posted_ns, std::uint64_t handle,
                      std::uint32_t receive);
  std::uint32_t new_message(const trace::Event& event, const OpenCall* call);
  void sent(const trace::Event& event, std::uint32_t number, const OpenCall* call, bool by_request);
  void received(const trace::Event& event, std::uint32_t number, const OpenCall* call,
                Request* request, const Channels::Posted* place);
  void request_made(Request& request, const OpenCall& call);
  void activated(Request& request, OpenCall* call);
  void start_collective(Request& request, OpenCall& call);
  void request_started(const Request&, std::uint64_t) {}
  void given(Request& request, const trace::Event& event);
  void request_dropped(const Request&) {}
  void complete_at_return(const OpenCall& call, const trace::Event& leave);
  void completed(const trace::Event& event, const Request* request, std::uint32_t step, bool ends);
  Channels::Posted post(const Channels::Key& key) { return channels_.post(key); }
  void withdrawn(const Channels::Posted& posted) { channels_.withdraw(posted, outgoing_.joined); }
  void never_received(const Channels::Posted& posted) {
    channels_.never_received(posted, outgoing_.joined);
  }
  void lost(const trace::Event& event);
  Request* operation_of(const trace::Event& message);
  void complete_parts(const trace::Event& event, const Request& request,
                      const std::vector<std::uint32_t>& parts);
  void begin_neighbors(std::int32_t communicator, std::int32_t tag, std::uint32_t call);
  Neighbors* neighbors_of(const trace::Event& message);
  bool begins_among_neighbors(OpenCall& call, const trace::Event& message);
  Request* only_receiving(std::int32_t communicator);
  Neighbors* add_to_neighbors(const trace::Event& message, Step& step, std::uint32_t number);
  void forget(const Neighbors& neighbors);
  void forget_neighbors();
  void complete_neighbors(const trace::Event& event, const Request& request);
  void member_given(const trace::Event& event);
  void other(const trace::Event& event);
  void close_communicators();
  std::uint32_t site(std::uint64_t address);

  // A window or file. All members of its communicator give it the same number: that of the
  // collective which made it, plus 1.
  struct Object {
    std::int32_t communicator = -1;
    std::uint32_t number = 0;
    std::uint32_t sequence = 0;  // number of collectives on it in this epoch
  };
  // The place of a communicator's constructor, if only the communicator it makes brings all callers
  // together.
  static constexpr std::uint32_t kConstructor = ~std::uint32_t{0};

  // A probe whose message has not been received yet.
  struct Probe {
    std::int32_t communicator = -1, peer = -1, tag = 0;
    std::uint64_t left_ns = 0;
    std::uint32_t step = 0;    // its kProbe
    bool takes = false;        // MPI_Mprobe: no other probe finds the message
    std::uint64_t handle = 0;  // of the message that it took, or that it found and another took
  };
  static constexpr std::size_t kMostProbes = 1024;
  // The last call of a thread, if it tested or probed and failed.
  struct FailedPoll {
    std::uint32_t step = kNobody;
    std::uint64_t left_ns = 0;
  };

  const JobFacts& facts_;
  const std::uint32_t process_;
  const std::int32_t rank_;
  StepFile& steps_;
  Channels& channels_;
  Outgoing& outgoing_;

  std::vector<std::uint32_t> sequences_;   // by communicator: number of collectives in this epoch
  std::vector<std::uint32_t> made_;        // by communicator: how often this process called for it
  std::vector<std::uint32_t> persistent_;  // by communicator: persistent collectives made on it
  base::FlatMap<std::uint64_t, Object> objects_;  // by handle
  Epochs epochs_;
  LockEpochs locks_;
  base::FlatMap<std::uint64_t, Neighbors> neighbors_;  // by communicator and tag
  std::vector<Probe> probes_;                          // in order
  std::vector<FailedPoll> failed_polls_;               // by thread
  std::vector<std::uint32_t> phases_;                  // open ones
  base::FlatMap<std::uint64_t, std::uint32_t> site_numbers_;
  std::vector<std::uint64_t> sites_;
  struct {
    std::uint64_t address = 0;
    std::uint32_t number = kNobody;
  } site_cache_[256];
  std::uint32_t epoch_ = 0;
  std::uint64_t lost_records_ = 0, losses_ = 0, of_unknown_objects_ = 0;
  bool incomplete_ = false;  // records were lost, so its collectives can no longer be numbered
};

}  // namespace fathom::analysis

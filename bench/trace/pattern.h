// SPDX-License-Identifier: BSD-3-Clause
// A synthetic job of any size, event by event: iterations of a halo exchange (a ring, or four
// neighbours on a torus) and an allreduce by recursive doubling, as a traced program would record
// them.
//
// Everything about rank r in iteration i follows from (r, i), so that ranks can be generated one
// after the other and still match: every message is received after it was sent, and nothing is
// lost.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trace/definitions.h"
#include "trace/event.h"

namespace fathom::bench {

enum Call : std::uint32_t { kInit, kIrecv, kIsend, kWaitall, kAllreduce, kFinalize };
enum Class : std::uint32_t { kUserClass, kAllreduceClass };

struct Pattern {
  int ranks = 8;
  bool torus = true;  // else a ring
  bool transfers = false;
  std::uint64_t bytes = 8192;
  std::string suffix;  // for names of hosts, communicators, …; if set, there is a phase
};

inline trace::Definitions definitions_of(const Pattern& pattern) {
  using trace::Attribute;
  using trace::Group;
  const std::vector<Attribute> message = {Attribute::kCommunicator, Attribute::kPeer,
                                          Attribute::kTag, Attribute::kBytes};
  trace::Definitions definitions;
  definitions.world_size = pattern.ranks;
  definitions.application = {"/opt/halo/solver" + pattern.suffix, {}, 1'700'000'000'000'000'000, 0};
  definitions.functions = {
      {"MPI_Init" + pattern.suffix, Group::kEnvironment, {}, {}},
      {"MPI_Irecv", Group::kReceive, message, {Attribute::kRequest}},
      {"MPI_Isend", Group::kSend, message, {Attribute::kRequest}},
      {"MPI_Waitall", Group::kCompletion, {Attribute::kCount, Attribute::kRequests}, {}},
      {"MPI_Allreduce", Group::kCollective, {Attribute::kCommunicator, Attribute::kBytes}, {}},
      {"MPI_Finalize", Group::kEnvironment, {}, {}}};
  profile::Communicator world;
  world.name = "MPI_COMM_WORLD" + pattern.suffix;
  world.made_by = "predefined";
  for (int rank = 0; rank < pattern.ranks; ++rank) world.world_ranks.push_back(rank);
  definitions.communicators = {world};
  definitions.classes = {"point-to-point", "MPI_Allreduce"};
  definitions.class_hidden = {false, true};
  if (!pattern.suffix.empty()) definitions.phases = {"solve" + pattern.suffix};
  definitions.epoch_unix_ns = 1'700'000'000'000'000'000;
  definitions.level = pattern.transfers ? "transfers" : "calls";
  definitions.source = "peruse";
  for (int rank = 0; rank < pattern.ranks; ++rank) {
    trace::Process process;
    process.rank = rank;
    process.host = "n" + std::to_string(rank / 16) + pattern.suffix;
    process.pid = 1000 + rank;
    process.threads = {"main" + pattern.suffix};
    process.code = {{0x400000, 0x10000, 0, "", "/gone/app"}};  // no names: only places in a file
    process.clock.kind = "monotonic";
    process.complete = true;
    definitions.processes.push_back(process);
  }
  return definitions;
}

class RankEvents {
 public:
  using Sink = std::function<void(const trace::Event&)>;

  RankEvents(const Pattern& pattern, int rank, Sink sink)
      : pattern_(pattern), rank_(rank), sink_(std::move(sink)) {
    if (!pattern.torus || pattern.ranks < 4) {
      neighbours_ = {step(1), step(-1)};
    } else {
      const int width = static_cast<int>(std::sqrt(static_cast<double>(pattern.ranks)));
      neighbours_ = {step(1), step(-1), step(width), step(-width)};
    }
  }

  void begin() {
    now_ns_ = started_ns(0) / 2;
    plain(trace::EventKind::kEnter, kInit);
    plain(trace::EventKind::kLeave, kInit);
    if (!pattern_.suffix.empty()) phase(trace::EventKind::kPhaseBegin);
  }

  void iteration(std::uint64_t number) {
    now_ns_ = std::max(now_ns_, started_ns(number));
    std::vector<std::uint64_t> requests;
    for (std::size_t i = 0; i < neighbours_.size();
         ++i) {  // what the neighbour sends in direction i
      requests.push_back(post(kIrecv, neighbours_[i ^ 1], i, number));
    }
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
      requests.push_back(post(kIsend, neighbours_[i], i, number));
    }
    wait(requests);
    allreduce(number);
  }

  void end(std::uint64_t iterations) {
    now_ns_ = std::max(now_ns_, started_ns(iterations));
    if (!pattern_.suffix.empty()) phase(trace::EventKind::kPhaseEnd);
    plain(trace::EventKind::kEnter, kFinalize);
    plain(trace::EventKind::kLeave, kFinalize);
  }

 private:
  static constexpr std::uint64_t kIteration_ns = 150'000, kJitter_ns = 20'000;

  int step(int by) const {
    return ((rank_ + by) % pattern_.ranks + pattern_.ranks) % pattern_.ranks;
  }

  static std::uint64_t mixed(std::uint64_t word) {
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
    word = (word ^ word >> 27) * 0x94d049bb133111ebu;
    return word ^ word >> 31;
  }
  std::uint64_t started_ns(std::uint64_t iteration) const {
    const auto who = static_cast<std::uint64_t>(rank_);
    return (iteration + 1) * kIteration_ns + mixed(who << 40 | iteration) % kJitter_ns;
  }

  // Advances the clock by a random time below 2 * about_ns.
  void pass(std::uint64_t about_ns) {
    now_ns_ += 1 + mixed(now_ns_ << 8 ^ static_cast<std::uint64_t>(rank_)) % (2 * about_ns);
  }

  // Events stamped by one clock call share one time; any other event comes a little later.
  trace::Event& event(trace::EventKind kind) {
    if (kind != trace::EventKind::kRequestGiven && kind != trace::EventKind::kRequestCompleted)
      pass(40);
    event_ = {};
    event_.kind = kind;
    event_.time_ns = now_ns_;
    return event_;
  }
  void plain(trace::EventKind kind, Call call) {
    event(kind).function = call;
    sink_(event_);
    pass(120);
  }

  void phase(trace::EventKind kind) {
    event(kind).code = 0;
    sink_(event_);
    pass(120);
  }

  void message(trace::EventKind kind, Class message_class, int peer, std::int32_t tag,
               std::uint64_t bytes, std::uint64_t request) {
    event(kind).communicator = 0;
    event_.code = message_class;
    event_.peer = event_.comm_peer = peer;
    event_.tag = tag;
    event_.bytes = bytes;
    event_.request = request;
    sink_(event_);
  }
  void transfer(trace::TransferStep step, std::uint64_t request, bool receiving) {
    if (!pattern_.transfers) return;
    pass(30);
    event(trace::EventKind::kTransfer).code = static_cast<std::uint32_t>(step);
    event_.request = request;
    event_.receiving = receiving;
    sink_(event_);
  }

  std::uint64_t post(Call call, int peer, std::size_t direction, std::uint64_t iteration) {
    // Request objects are reused, a few of them in turn.
    const std::uint64_t request =
        0x55d0'0000'0000u +
        ((iteration & 3) * 16 + direction * 2 + (call == kIsend ? 1 : 0)) * 0x180;
    event(trace::EventKind::kEnter).function = call;
    event_.communicator = 0;
    event_.peer = event_.comm_peer = peer;
    event_.tag = static_cast<std::int32_t>(direction);
    event_.bytes = pattern_.bytes;
    event_.site = 0x401000 + call * 0x40 + direction * 8;
    sink_(event_);
    pass(80);
    if (call == kIsend) {
      message(trace::EventKind::kMessageSent, kUserClass, peer,
              static_cast<std::int32_t>(direction), pattern_.bytes, request);
    }
    transfer(trace::TransferStep::kActivate, request, call == kIrecv);
    transfer(call == kIsend ? trace::TransferStep::kBegin : trace::TransferStep::kPosted, request,
             call == kIrecv);
    pass(60);
    event(trace::EventKind::kLeave).function = call;
    event_.request = request;
    sink_(event_);
    pass(50);
    return request;
  }

  void wait(const std::vector<std::uint64_t>& requests) {
    event(trace::EventKind::kEnter).function = kWaitall;
    event_.count = requests.size();
    event_.site = 0x401200;
    sink_(event_);
    for (const std::uint64_t request : requests) {
      event(trace::EventKind::kRequestGiven).request = request;
      sink_(event_);
    }
    now_ns_ += kJitter_ns + 2000;  // every neighbour has sent by then
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
      pass(300);
      transfer(trace::TransferStep::kMatchedExpected, requests[i], true);
      message(trace::EventKind::kMessageReceived, kUserClass, neighbours_[i ^ 1],
              static_cast<std::int32_t>(i), pattern_.bytes, requests[i]);
      transfer(trace::TransferStep::kComplete, requests[i], true);
    }
    pass(100);
    for (const std::uint64_t request : requests) {
      event(trace::EventKind::kRequestCompleted).request = request;
      event_.flag = 0;
      sink_(event_);
    }
    event(trace::EventKind::kLeave).function = kWaitall;
    sink_(event_);
    pass(3000);
  }

  void allreduce(std::uint64_t iteration) {
    event(trace::EventKind::kEnter).function = kAllreduce;
    event_.communicator = 0;
    event_.bytes = 8;
    event_.site = 0x401240;
    sink_(event_);
    const std::uint64_t start_ns = (iteration + 1) * kIteration_ns + 100'000;
    int round = 0;
    for (int distance = 1; distance < pattern_.ranks; distance *= 2, ++round) {
      const int peer = rank_ ^ distance;
      if (peer >= pattern_.ranks) continue;
      now_ns_ = std::max(now_ns_, start_ns + static_cast<std::uint64_t>(round) * 3000);
      pass(100);
      message(trace::EventKind::kMessageSent, kAllreduceClass, peer, -12, 8, 0);
      now_ns_ = start_ns + static_cast<std::uint64_t>(round) * 3000 + 2000;
      pass(200);
      message(trace::EventKind::kMessageReceived, kAllreduceClass, peer, -12, 8, 0);
    }
    pass(200);
    event(trace::EventKind::kLeave).function = kAllreduce;
    sink_(event_);
  }

  const Pattern& pattern_;
  int rank_;
  Sink sink_;
  std::vector<int> neighbours_;
  std::uint64_t now_ns_ = 0;
  trace::Event event_;
};

}  // namespace fathom::bench

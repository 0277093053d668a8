// SPDX-License-Identifier: BSD-3-Clause
// A small run's trace, written by hand: two hosts, three ranks, an intercommunicator, every kind of
// event.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"
#include "trace/definitions.h"
#include "trace/event.h"

namespace fathom::test {

enum SampleFunction : std::uint32_t {
  kSendCall,
  kWaitallCall,
  kBcastCall,
  kPutCall,
  kSplitCall,
  kSendrecvCall,
  kTestCall
};

inline trace::Definitions sample_definitions() {
  using trace::Attribute;
  using trace::Group;
  trace::Definitions definitions;
  definitions.world_size = 3;
  definitions.application = {
      "/usr/bin/solver", {"-n", "two words"}, 1'700'000'000'000'000'000, 2.5};
  definitions.functions = {
      {"MPI_Send",
       Group::kSend,
       {Attribute::kCommunicator, Attribute::kPeer, Attribute::kTag, Attribute::kBytes},
       {}},
      {"MPI_Waitall", Group::kCompletion, {Attribute::kCount, Attribute::kRequests}, {}},
      {"MPI_Bcast",
       Group::kCollective,
       {Attribute::kCommunicator, Attribute::kRoot, Attribute::kBytes},
       {}},
      {"MPI_Put",
       Group::kOneSided,
       {Attribute::kWindow, Attribute::kPeer, Attribute::kBytes, Attribute::kCommunicator,
        Attribute::kOffset},
       {}},
      {"MPI_Comm_split",
       Group::kCommunicator,
       {Attribute::kCommunicator},
       {Attribute::kNewCommunicator}},
      {"MPI_Sendrecv",
       Group::kSendReceive,
       {Attribute::kCommunicator, Attribute::kPeer, Attribute::kTag, Attribute::kBytes,
        Attribute::kPeer2, Attribute::kTag2, Attribute::kBytes2},
       {}},
      {"MPI_Test", Group::kCompletion, {Attribute::kRequest}, {Attribute::kFlag}},
  };
  const auto communicator = [](std::int64_t id, const char* name, const char* made_by) {
    profile::Communicator made;
    made.id = id;
    made.name = name;
    made.made_by = made_by;
    return made;
  };
  definitions.communicators = {
      communicator(0, "MPI_COMM_WORLD", "predefined"),
      communicator(1, "MPI_COMM_SELF", "predefined"), communicator(2, "pair", "MPI_Comm_split"),
      communicator(3, "", "MPI_Intercomm_create"), communicator(4, "", "MPI_Comm_accept")};
  definitions.communicators[0].world_ranks = {0, 1, 2};
  definitions.communicators[2].world_ranks = {2, 0};
  definitions.communicators[2].parent = 0;
  definitions.communicators[2].instances = 7;
  definitions.communicators[3].world_ranks = {0, 1};
  definitions.communicators[3].remote_world_ranks = {2};
  definitions.communicators[4].world_ranks = {1};
  definitions.communicators[4].remote_world_ranks = {4, 3};
  definitions.communicators[4].internal = true;
  definitions.classes = {"point-to-point", "MPI_Bcast"};
  definitions.class_hidden = {false, true};
  definitions.phases = {"set up", "solve"};
  definitions.epoch_unix_ns = 1'700'000'000'500'000'000;
  definitions.level = "transfers";
  definitions.source = "peruse";
  for (int rank = 0; rank < 3; ++rank) {
    trace::Process process;
    process.rank = rank;
    process.host = rank < 2 ? "n1" : "n2";
    process.pid = 100 + rank;
    process.affinity = "0-3";
    process.socket = 0;
    process.numa_node = rank;
    process.threads = {"main", "worker"};
    process.code = {{0x400000, 0x1000, 0x2000, "abcd", "/usr/bin/a solver"}};
    process.clock.kind = "monotonic";
    process.clock.uncertainty_ns = 40;
    process.complete = true;
    definitions.processes.push_back(process);
  }
  return definitions;
}

inline trace::Event sample_event(trace::EventKind kind, std::uint64_t time_ns,
                                 std::uint32_t thread = 0) {
  trace::Event event;
  event.kind = kind;
  event.time_ns = time_ns;
  event.thread = thread;
  return event;
}

// What process `rank` did, in order of time.
inline std::vector<trace::Event> sample_events(int rank) {
  using trace::EventKind;
  std::vector<trace::Event> events;
  const auto add = [&events](EventKind kind, std::uint64_t time_ns,
                             std::uint32_t thread = 0) -> trace::Event& {
    return events.emplace_back(sample_event(kind, time_ns, thread));
  };
  const int next = (rank + 1) % 3;
  trace::Event& send = add(EventKind::kEnter, 100 + static_cast<std::uint64_t>(rank));
  send.function = kSendCall;
  send.communicator = 0;
  send.peer = send.comm_peer = next;
  send.tag = 7;
  send.bytes = 0x1'2345'6789;  // longer than 32 bits
  send.site = 0x401234;
  trace::Event& sent = add(EventKind::kMessageSent, 150);
  sent.communicator = 0;
  sent.peer = sent.comm_peer = next;
  sent.tag = 7;
  sent.bytes = 0x1'2345'6789;
  sent.request = 0x7f00;
  trace::Event& step = add(EventKind::kTransfer, 151);
  step.code = 6;
  step.request = 0x7f00;
  add(EventKind::kLeave, 200).function = kSendCall;

  trace::Event& waitall = add(EventKind::kEnter, 300);
  waitall.function = kWaitallCall;
  waitall.count = 20;
  for (std::uint64_t request = 1; request <= 20; ++request)
    add(EventKind::kRequestGiven, 300).request = request;
  trace::Event& received = add(EventKind::kMessageReceived, 310);
  received.communicator = rank == 1 ? 4 : 3;
  received.peer = rank == 1 ? 3 : rank == 2 ? 1 : 2;
  received.comm_peer = rank == 1 ? 1 : rank == 2 ? 1 : 0;
  received.tag = -1234;
  received.bytes = 5;
  received.code = 1;
  trace::Event& completed = add(EventKind::kRequestCompleted, 320);
  completed.request = 20;
  completed.flag = 0;
  trace::Event& left = add(EventKind::kLeave, 330);
  left.function = kWaitallCall;
  left.code = 18;

  trace::Event& begin = add(EventKind::kPhaseBegin, 340);
  begin.code = 1;
  trace::Event& bcast = add(EventKind::kEnter, 350, 1);
  bcast.function = kBcastCall;
  bcast.communicator = 1;
  bcast.root = rank;
  bcast.bytes = 8;
  trace::Event& put = add(EventKind::kEnter, 351, 1);
  put.function = kPutCall;
  put.object = 0xbeef;
  put.communicator = rank == 1 ? 0 : 2;
  put.peer = rank == 1 ? 2 : 0;
  put.comm_peer = rank == 1 ? 2 : 1;
  put.bytes = 64;
  put.offset = 4096;
  trace::Event& sendrecv = add(EventKind::kEnter, 6'000'000'000);  // a long step
  sendrecv.function = kSendrecvCall;
  sendrecv.communicator = 0;
  sendrecv.peer = trace::kNullProcess;
  sendrecv.peer2 = trace::kAnySource;
  sendrecv.tag2 = trace::kAnyTag;
  sendrecv.bytes2 = 0xffff'ffff;  // the value that means a longer one
  trace::Event& split = add(EventKind::kLeave, 6'000'000'001);
  split.function = kSplitCall;
  split.new_communicator = rank == 1 ? -1 : 2;
  trace::Event& unexpected = add(EventKind::kUnexpected, 6'000'000'002);
  unexpected.communicator = 0;
  unexpected.peer = unexpected.comm_peer = 2;
  unexpected.tag = 9;
  unexpected.receiving = true;
  trace::Event& test = add(EventKind::kEnter, 6'000'000'003);
  test.function = kTestCall;
  test.request = 0x99;
  trace::Event& tested = add(EventKind::kLeave, 6'000'000'004);
  tested.function = kTestCall;
  tested.flag = 1;
  trace::Event& sampled = add(EventKind::kSampled, 6'000'000'005);
  sampled.function = kTestCall;
  sampled.count = 1000;
  sampled.offset = 123'456;
  add(EventKind::kPause, 6'000'000'006).code = 1;
  add(EventKind::kResume, 6'000'000'007);
  add(EventKind::kProcessor, 6'000'000'008).code = 3;
  add(EventKind::kLost, 6'000'000'009).count = 12;
  add(EventKind::kPhaseEnd, 6'000'000'010).code = 1;
  return events;
}

// The same, with the kinds of events that the first version of traces did not have.
inline std::vector<trace::Event> events_of_every_kind(int rank) {
  std::vector<trace::Event> events = sample_events(rank);
  for (int member = 0; member < 20; ++member)
    events.emplace_back(sample_event(trace::EventKind::kMemberGiven, 6'000'000'010)).peer =
        member % 3;
  events.emplace_back(sample_event(trace::EventKind::kRequestGiven, 6'000'000'010)).request = 5;
  return events;
}

}  // namespace fathom::test

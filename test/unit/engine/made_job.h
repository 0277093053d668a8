// SPDX-License-Identifier: BSD-3-Clause
// Jobs written by hand for tests of analyses: calls with the times at which they were entered and
// left, and the messages in them, as the recorder would have left them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/reader.h"
#include "trace/writer.h"

namespace fathom::test {

class MadeJob {
 public:
  explicit MadeJob(int ranks) : events_(static_cast<std::size_t>(ranks)) {
    definitions.world_size = ranks;
    definitions.classes = {"point-to-point", "MPI_Bcast"};
    definitions.class_hidden = {false, true};
    definitions.epoch_unix_ns = 1'700'000'000'000'000'000;
    definitions.level = "calls";
    definitions.source = "peruse";
    add_communicator("MPI_COMM_WORLD", ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      trace::Process process;
      process.rank = rank;
      process.host = "n1";
      process.pid = 100 + rank;
      process.threads = {"main"};
      process.clock.kind = "monotonic";
      process.complete = true;
      definitions.processes.push_back(process);
    }
  }

  int add_communicator(const std::string& name, int ranks) {
    profile::Communicator made;
    made.id = static_cast<std::int64_t>(definitions.communicators.size());
    made.name = name;
    made.made_by = made.id == 0 ? "predefined" : "MPI_Comm_dup";
    for (int rank = 0; rank < ranks; ++rank) made.world_ranks.push_back(rank);
    definitions.communicators.push_back(made);
    return static_cast<int>(made.id);
  }

  trace::Event& add(int rank, trace::EventKind kind, std::uint64_t time_ns) {
    trace::Event& event = events_[static_cast<std::size_t>(rank)].emplace_back();
    event.kind = kind;
    event.time_ns = time_ns;
    return event;
  }
  trace::Event& enter(int rank, std::uint64_t time_ns, const std::string& function) {
    trace::Event& event = add(rank, trace::EventKind::kEnter, time_ns);
    event.function = number_of(function);
    event.site = place + event.function;
    return event;
  }
  trace::Event& leave(int rank, std::uint64_t time_ns, const std::string& function) {
    trace::Event& event = add(rank, trace::EventKind::kLeave, time_ns);
    event.function = number_of(function);
    return event;
  }
  static trace::Event& about(trace::Event& event, int peer, int tag, std::uint64_t bytes,
                             int communicator = 0) {
    event.communicator = communicator;
    event.peer = event.comm_peer = peer;
    event.tag = tag;
    event.bytes = bytes;
    return event;
  }
  trace::Event& message(int rank, std::uint64_t time_ns, bool sent, int peer, int tag,
                        std::uint64_t bytes, std::uint64_t request = 0, int communicator = 0) {
    trace::Event& event = add(
        rank, sent ? trace::EventKind::kMessageSent : trace::EventKind::kMessageReceived, time_ns);
    event.request = request;
    return about(event, peer, tag, bytes, communicator);
  }

  // Blocking calls; the message right after the call is entered, or right before it is left.
  void send(int rank, std::uint64_t from_ns, std::uint64_t to_ns, int peer, int tag = 0,
            std::uint64_t bytes = 8, int communicator = 0,
            const std::string& function = "MPI_Send") {
    about(enter(rank, from_ns, function), peer, tag, bytes, communicator);
    message(rank, from_ns + 1, true, peer, tag, bytes, 0, communicator);
    leave(rank, to_ns, function);
  }
  void receive(int rank, std::uint64_t from_ns, std::uint64_t to_ns, int peer, int tag = 0,
               std::uint64_t bytes = 8, int communicator = 0) {
    about(enter(rank, from_ns, "MPI_Recv"), peer, tag, bytes, communicator);
    message(rank, to_ns - 1, false, peer, tag, bytes, 0, communicator);
    leave(rank, to_ns, "MPI_Recv");
  }
  void isend(int rank, std::uint64_t from_ns, std::uint64_t request, int peer, int tag = 0,
             std::uint64_t bytes = 8) {
    about(enter(rank, from_ns, "MPI_Isend"), peer, tag, bytes);
    message(rank, from_ns + 1, true, peer, tag, bytes);
    leave(rank, from_ns + 2, "MPI_Isend").request = request;
  }
  void irecv(int rank, std::uint64_t from_ns, std::uint64_t request, int peer, int tag = 0,
             std::uint64_t bytes = 8) {
    about(enter(rank, from_ns, "MPI_Irecv"), peer, tag, bytes);
    leave(rank, from_ns + 2, "MPI_Irecv").request = request;
  }
  void arrive(int rank, std::uint64_t time_ns, std::uint64_t request, int peer, int tag = 0,
              std::uint64_t bytes = 8) {
    message(rank, time_ns, false, peer, tag, bytes, request);
  }
  void complete(int rank, std::uint64_t time_ns, std::uint64_t request, bool cancelled = false) {
    trace::Event& event = add(rank, trace::EventKind::kRequestCompleted, time_ns);
    event.request = request;
    event.flag = cancelled ? 1 : 0;
  }
  // MPI_Wait for a send, or for a receive whose message comes 2 ns before the end.
  void wait(int rank, std::uint64_t from_ns, std::uint64_t to_ns, std::uint64_t request) {
    enter(rank, from_ns, "MPI_Wait").request = request;
    complete(rank, to_ns - 1, request);
    leave(rank, to_ns, "MPI_Wait");
  }
  void wait_receive(int rank, std::uint64_t from_ns, std::uint64_t to_ns, std::uint64_t request,
                    int peer, int tag = 0, std::uint64_t bytes = 8) {
    enter(rank, from_ns, "MPI_Wait").request = request;
    arrive(rank, to_ns - 2, request, peer, tag, bytes);
    complete(rank, to_ns - 1, request);
    leave(rank, to_ns, "MPI_Wait");
  }
  // A test or probe that returns at once.
  void poll(int rank, std::uint64_t from_ns, std::uint64_t to_ns, const std::string& function,
            bool succeeds, std::uint64_t request = 0) {
    about(enter(rank, from_ns, function), 0, 0, 8);
    if (request != 0) complete(rank, to_ns - 1, request);
    leave(rank, to_ns, function).flag = succeeds ? 1 : 0;
  }
  // MPI_Mprobe or MPI_Improbe that takes a message, and the call that receives it.
  void take(int rank, std::uint64_t from_ns, std::uint64_t to_ns, std::uint64_t message, int peer,
            int tag = 0, const std::string& function = "MPI_Mprobe") {
    about(enter(rank, from_ns, function), peer, tag, 0);
    trace::Event& left = leave(rank, to_ns, function);
    left.object = message;
    if (function == "MPI_Improbe") left.flag = 1;
  }
  void mrecv(int rank, std::uint64_t from_ns, std::uint64_t to_ns, std::uint64_t held, int peer,
             int tag = 0, std::uint64_t bytes = 8) {
    trace::Event& entered = enter(rank, from_ns, "MPI_Mrecv");
    entered.communicator = 0;
    entered.object = held;
    message(rank, to_ns - 1, false, peer, tag, bytes);
    leave(rank, to_ns, "MPI_Mrecv");
  }
  void imrecv(int rank, std::uint64_t from_ns, std::uint64_t held, std::uint64_t request) {
    trace::Event& entered = enter(rank, from_ns, "MPI_Imrecv");
    entered.communicator = 0;
    entered.object = held;
    leave(rank, from_ns + 2, "MPI_Imrecv").request = request;
  }
  void on_window(int rank, std::uint64_t from_ns, std::uint64_t to_ns, const std::string& function,
                 std::uint64_t window) {
    trace::Event& entered = enter(rank, from_ns, function);
    entered.communicator = 0;
    if (function != "MPI_Win_create") entered.object = window;
    trace::Event& left = leave(rank, to_ns, function);
    if (function == "MPI_Win_create") left.object = window;
  }
  // MPI_Win_post and MPI_Win_start with a group of these ranks; MPI_Win_test fails if `succeeds` says
  // so.
  void in_epoch(int rank, std::uint64_t from_ns, std::uint64_t to_ns, const std::string& function,
                const std::vector<int>& group = {}, bool succeeds = true,
                std::uint64_t window = 0xa) {
    trace::Event& entered = enter(rank, from_ns, function);
    entered.communicator = 0;
    entered.object = window;
    for (const int member : group) add(rank, trace::EventKind::kMemberGiven, from_ns).peer = member;
    trace::Event& left = leave(rank, to_ns, function);
    if (function == "MPI_Win_test") left.flag = succeeds ? 1 : 0;
  }
  // A call at a window that may be locked; `target` -1: all.
  void in_lock(int rank, std::uint64_t from_ns, std::uint64_t to_ns, const std::string& function,
               int target, trace::LockType type = trace::LockType::kUnknown,
               std::uint64_t window = 0xa) {
    trace::Event& entered = enter(rank, from_ns, function);
    entered.communicator = 0;
    entered.object = window;
    entered.peer = entered.comm_peer = target;
    entered.code = static_cast<std::uint32_t>(type);
    leave(rank, to_ns, function);
  }
  // Makes a persistent collective: MPI_Allreduce_init.
  void make_persistent(int rank, std::uint64_t from_ns, const std::string& function,
                       std::uint64_t request, int root = -1) {
    trace::Event& event = enter(rank, from_ns, function);
    event.communicator = 0;
    event.root = root;
    event.bytes = 8;
    leave(rank, from_ns + 2, function).request = request;
  }
  void start(int rank, std::uint64_t from_ns, std::uint64_t request) {
    enter(rank, from_ns, "MPI_Start").request = request;
    leave(rank, from_ns + 2, "MPI_Start");
  }
  void collective(int rank, std::uint64_t from_ns, std::uint64_t to_ns, const std::string& function,
                  int root = -1, int communicator = 0, std::uint64_t bytes = 8) {
    trace::Event& event = enter(rank, from_ns, function);
    event.communicator = communicator;
    event.root = root;
    event.bytes = bytes;
    leave(rank, to_ns, function);
  }

  const std::vector<trace::Event>& events(int rank) const {
    return events_[static_cast<std::size_t>(rank)];
  }
  trace::Trace written(const std::string& run_directory) {
    auto writer = trace::TraceWriter::create(run_directory, definitions);
    REQUIRE(writer.ok());
    for (std::size_t rank = 0; rank < events_.size(); ++rank) {
      for (const trace::Event& event : events_[rank]) writer->append(rank, event);
      writer->name_sites(rank, definitions.processes[rank].sites);
    }
    REQUIRE(writer->finish().ok());
    auto trace = trace::Trace::open(run_directory);
    REQUIRE(trace.ok());
    return std::move(*trace);
  }

  trace::Definitions definitions;
  std::uint64_t place =
      0x1000;  // calls of different functions return to different addresses after it

 private:
  std::uint32_t number_of(const std::string& name) {
    auto& functions = definitions.functions;
    const auto found =
        std::find_if(functions.begin(), functions.end(),
                     [&](const trace::Function& function) { return function.name == name; });
    if (found != functions.end()) return static_cast<std::uint32_t>(found - functions.begin());
    functions.push_back(function_named(name));
    return static_cast<std::uint32_t>(functions.size() - 1);
  }

  static trace::Function function_named(const std::string& name) {
    using trace::Attribute;
    using trace::Group;
    const std::vector<Attribute> about = {Attribute::kCommunicator, Attribute::kPeer,
                                          Attribute::kTag, Attribute::kBytes};
    if (name == "MPI_Probe" || name == "MPI_Iprobe")
      return {name, Group::kProbe, about, {Attribute::kFlag}};
    if (name == "MPI_Mprobe") return {name, Group::kProbe, about, {Attribute::kMessage}};
    if (name == "MPI_Improbe")
      return {name, Group::kProbe, about, {Attribute::kFlag, Attribute::kMessage}};
    if (name == "MPI_Mrecv" || name == "MPI_Imrecv") {
      return {name,
              Group::kReceive,
              {Attribute::kCommunicator, Attribute::kBytes, Attribute::kMessage},
              name == "MPI_Mrecv" ? std::vector<Attribute>{}
                                  : std::vector<Attribute>{Attribute::kRequest}};
    }
    if (name == "MPI_Win_create")
      return {name, Group::kOneSided, {Attribute::kCommunicator}, {Attribute::kWindow}};
    if (name == "MPI_Win_test") {
      return {name,
              Group::kOneSided,
              {Attribute::kCommunicator, Attribute::kWindow},
              {Attribute::kFlag}};
    }
    if (name == "MPI_Put" || name.starts_with("MPI_Win_flush") ||
        name.starts_with("MPI_Win_unlock") || name.starts_with("MPI_Win_lock")) {
      std::vector<Attribute> entered = {Attribute::kCommunicator, Attribute::kPeer};
      if (name.starts_with("MPI_Win_lock")) entered.push_back(Attribute::kLock);
      entered.push_back(Attribute::kWindow);
      return {name, Group::kOneSided, entered, {}};
    }
    if (name == "MPI_Start") return {name, Group::kOther, {Attribute::kRequest}, {}};
    if (name.starts_with("MPI_Win_"))
      return {name, Group::kOneSided, {Attribute::kCommunicator, Attribute::kWindow}, {}};
    if (name == "MPI_Intercomm_create") {
      return {
          name, Group::kCommunicator, {Attribute::kCommunicator}, {Attribute::kNewCommunicator}};
    }
    const bool makes = (name[4] == 'I' && name != "MPI_Init") || name == "MPI_Comm_idup" ||
                       name.ends_with("_init");
    const std::vector<Attribute> left =
        makes ? std::vector<Attribute>{Attribute::kRequest} : std::vector<Attribute>{};
    if (name.ends_with("send")) return {name, Group::kSend, about, left};
    if (name == "MPI_Send") return {name, Group::kSend, about, left};
    if (name == "MPI_Recv" || name == "MPI_Irecv") return {name, Group::kReceive, about, left};
    if (name == "MPI_Sendrecv") return {name, Group::kSendReceive, about, left};
    if (name == "MPI_Request_get_status" || name == "MPI_Parrived")
      return {name, Group::kCompletion, {Attribute::kRequest}, {Attribute::kFlag}};
    if (name.starts_with("MPI_Request_get_status_"))
      return {name, Group::kCompletion, {}, {Attribute::kFlag}};
    if (name.starts_with("MPI_Wait")) return {name, Group::kCompletion, {Attribute::kRequest}, {}};
    if (name.starts_with("MPI_Test")) return {name, Group::kCompletion, {}, {Attribute::kFlag}};
    if (name == "MPI_Init" || name == "MPI_Finalize") return {name, Group::kEnvironment, {}, {}};
    return {name,
            Group::kCollective,
            {Attribute::kCommunicator, Attribute::kRoot, Attribute::kBytes},
            left};
  }

  std::vector<std::vector<trace::Event>> events_;
};

}  // namespace fathom::test

// SPDX-License-Identifier: BSD-3-Clause
// A job of two ranks for tests of walks and exports: 0 sends to 1 with MPI_Isend, 1 receives with
// MPI_Irecv and MPI_Wait, both take part in an MPI_Bcast of one hidden message; then 1 is cut off
// inside a send.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "trace/writer.h"

namespace fathom::test {

enum JobFunction : std::uint32_t { kJobSend, kJobIrecv, kJobIsend, kJobWait, kJobBcast };

inline trace::Definitions job_definitions() {
  using trace::Attribute;
  using trace::Group;
  const std::vector<Attribute> message = {Attribute::kCommunicator, Attribute::kPeer,
                                          Attribute::kTag, Attribute::kBytes};
  trace::Definitions all;
  all.world_size = 2;
  all.functions = {{"MPI_Send", Group::kSend, message, {}},
                   {"MPI_Irecv", Group::kReceive, message, {Attribute::kRequest}},
                   {"MPI_Isend", Group::kSend, message, {Attribute::kRequest}},
                   {"MPI_Wait", Group::kCompletion, {Attribute::kRequest}, {}},
                   {"MPI_Bcast",
                    Group::kCollective,
                    {Attribute::kCommunicator, Attribute::kRoot, Attribute::kBytes},
                    {}}};
  profile::Communicator world;
  world.name = "MPI_COMM_WORLD";
  world.made_by = "predefined";
  world.world_ranks = {0, 1};
  all.communicators = {world};
  all.classes = {"point-to-point", "MPI_Bcast"};
  all.class_hidden = {false, true};
  all.epoch_unix_ns = 1'700'000'000'000'000'000;
  all.level = "calls";
  all.source = "peruse";
  for (int rank = 0; rank < 2; ++rank) {
    trace::Process process;
    process.rank = rank;
    process.host = rank == 0 ? "n1" : "n2";
    process.pid = 100 + rank;
    process.threads = {"main"};
    process.clock.kind = "monotonic";
    process.complete = true;
    all.processes.push_back(process);
  }
  return all;
}

class JobEvents {
 public:
  trace::Event& add(trace::EventKind kind, std::uint64_t time_ns) {
    trace::Event& event = events.emplace_back();
    event.kind = kind;
    event.time_ns = time_ns;
    return event;
  }
  trace::Event& enter(std::uint64_t time_ns, JobFunction function) {
    trace::Event& event = add(trace::EventKind::kEnter, time_ns);
    event.function = function;
    return event;
  }
  trace::Event& leave(std::uint64_t time_ns, JobFunction function) {
    trace::Event& event = add(trace::EventKind::kLeave, time_ns);
    event.function = function;
    return event;
  }
  static void about(trace::Event& event, int peer, int tag, std::uint64_t bytes) {
    event.communicator = 0;
    event.peer = event.comm_peer = peer;
    event.tag = tag;
    event.bytes = bytes;
  }
  void message(std::uint64_t time_ns, bool sent, int peer, int tag, std::uint64_t bytes,
               std::uint32_t message_class, std::uint64_t request) {
    trace::Event& event =
        add(sent ? trace::EventKind::kMessageSent : trace::EventKind::kMessageReceived, time_ns);
    about(event, peer, tag, bytes);
    event.code = message_class;
    event.request = request;
  }
  void completed(std::uint64_t time_ns, std::uint64_t request) {
    trace::Event& event = add(trace::EventKind::kRequestCompleted, time_ns);
    event.request = request;
    event.flag = 0;
  }

  std::vector<trace::Event> events;
};

inline std::vector<trace::Event> job_events(int rank) {
  JobEvents job;
  if (rank == 0) {
    JobEvents::about(job.enter(100, kJobIsend), 1, 5, 1000);
    job.message(110, true, 1, 5, 1000, 0, 0);
    job.leave(120, kJobIsend).request = 66;
    job.enter(130, kJobWait).request = 66;
    job.completed(140, 66);
    job.leave(150, kJobWait);
  } else {
    JobEvents::about(job.enter(50, kJobIrecv), 0, 5, 1000);
    job.leave(60, kJobIrecv).request = 77;
    job.enter(70, kJobWait).request = 77;
    job.message(200, false, 0, 5, 1000, 0, 77);
    job.completed(210, 77);
    job.leave(270, kJobWait);
  }
  trace::Event& bcast = job.enter(300, kJobBcast);
  bcast.communicator = 0;
  bcast.root = 0;
  bcast.bytes = 64;
  job.message(rank == 0 ? 310 : 390, rank == 0, 1 - rank, -10, 64, 1, 0);
  job.leave(400, kJobBcast);
  if (rank == 1) {
    JobEvents::about(job.enter(500, kJobSend), 0, 6, 8);
    job.message(505, true, 0, 6, 8, 0, 0);
  }
  return job.events;
}

// Rank 1 receives three messages and completes none: it frees the first request, the number of the
// second is given again, and the third is alive at the end.
inline trace::Definitions uncompleted_definitions() {
  trace::Definitions all = job_definitions();
  all.functions.push_back(
      {"MPI_Request_free", trace::Group::kOther, {trace::Attribute::kRequest}, {}});
  return all;
}
inline std::vector<trace::Event> uncompleted_events() {
  JobEvents job;
  for (const std::uint64_t at : {100, 200, 300}) {
    JobEvents::about(job.enter(at, kJobIrecv), 0, 5, 8);
    job.leave(at + 10, kJobIrecv).request = at == 100 ? 77 : 88;
    job.message(at + 20, false, 0, 5, 8, 0, at == 100 ? 77 : 88);
    if (at != 100) continue;
    trace::Event& free = job.add(trace::EventKind::kEnter, 130);
    free.function = 5;
    free.request = 77;
    job.add(trace::EventKind::kLeave, 140).function = 5;
  }
  return job.events;
}

inline void write_job(const std::string& run_directory) {
  auto writer = trace::TraceWriter::create(run_directory, job_definitions());
  REQUIRE(writer.ok());
  for (int rank = 0; rank < 2; ++rank) {
    for (const trace::Event& event : job_events(rank))
      writer->append(static_cast<std::size_t>(rank), event);
  }
  REQUIRE(writer->finish().ok());
}

}  // namespace fathom::test

// SPDX-License-Identifier: BSD-3-Clause
// What a thread says of itself to readers of the job while it is inside an MPI call (ThreadLine in
// live/page.h).
//
// With FATHOM_LIVE=1, and only then, a function of the generated live_calls.cpp takes the place of
// the MPI library's own behind each wrapper whose call can wait, or makes a request:
//
//   int live_Recv(…) {
//     LiveCall call(kName, communicator(comm));
//     if (call.on()) {
//       call.waits_for(live::RequestKind::kReceive, source, tag, bytes(count, datatype));
//       call.begun();
//     }
//     return real_Recv(…);
//   }
//
// So the wrappers themselves are the same with and without. Where the call was made, CallSites says.
//
// Threading: any thread; each has a line of its own. A line is taken the first time that a thread
// calls, and given to the next new thread when it ends. Without a line, nothing is said. Cost: two
// readings of a coarse clock (5 ns each) and some stores.
#pragma once

#include <cstdint>

#include "live/job_state.h"
#include "live/page.h"
#include "profiler/live/live_page.h"
#include "profiler/openmpi/mpi.h"

namespace fathom::profiler {

struct LiveFunction {
  const char* name;  // "PMPI_Recv" for the MPI library's, "MPI_Recv" for another tool's
  void* instead;
  void** real;  // what `instead` calls
};
extern const LiveFunction* const kLiveFunctions;  // null in the library that only counts
extern const std::uint32_t kLiveFunctionCount;

namespace live_calls {
// Puts them in place. Once, before any wrapper has looked up what it calls; `page` stays.
bool open(LivePage& page);
}  // namespace live_calls

// A name as a line holds it.
struct LiveName {
  char characters[sizeof live::ThreadLine::function];
};

class LiveCall {
 public:
  // `communicator`: a kind in the registry, or kNoCommunicator. Calls inside another say nothing.
  LiveCall(const LiveName& function, std::uint32_t communicator);
  ~LiveCall() {
    if (line_ != nullptr) leave();
  }
  LiveCall(const LiveCall&) = delete;

  bool on() const { return line_ != nullptr; }

  // Between the constructor and begun().
  void waits_for(live::RequestKind kind, int peer, int tag, std::uint64_t bytes);
  void waits_for_all() { line_->waits_for_all = 1; }
  // Those of the requests that are not complete. `all`: it waits for all of them.
  void completes(int count, MPI_Request* requests, bool all);
  // The next collective on its communicator. `root`: kNoRank if it has none.
  void is_collective(int root);
  void moves(std::uint64_t bytes) { line_->bytes = bytes; }

  void begun();

 private:
  void leave();
  void add(const live::PendingLine& pending);

  live::ThreadLine* line_;
};

// A call that tests or probes and returns at once. What a thread has asked for in vain stays in its line,
// between the calls too, until one of them finds something or the thread enters a call that can wait: so
// a reader knows all that a loop of such calls may be waiting for. Requests that it no longer asks for
// may be among them.
class LivePoll {
 public:
  static void found();
  static void found_nothing(int count, const MPI_Request* requests);
  static void found_nothing(std::uint32_t communicator, int source, int tag);
};

// A call that makes a request: what the call that completes it will wait for.
class LiveRequest {
 public:
  LiveRequest(live::RequestKind kind, std::uint32_t communicator, int peer, int tag,
              std::uint64_t bytes)
      : pending_{static_cast<std::uint32_t>(kind), communicator, peer, tag, bytes} {}
  // A non-blocking collective has its place among those of its communicator.
  void is_collective() const;
  // `request`: as Open MPI knows it.
  void made(const void* request) const;

 private:
  live::PendingLine pending_;
};

}  // namespace fathom::profiler

// SPDX-License-Identifier: BSD-3-Clause
// The calls of a traced run that touch a window of time, found without reading the run from its start.
//
// A call may have begun long before the window, and its enter event is then far away. So one pass over
// the trace keeps, at up to kMostMarks moments of each process, the calls and phases that were open there. A
// window starts at the last mark before it. Rejected: reading backward until every thread's state is known, which is
// the whole run where a thread computes for long.
//
// A call touches a window if a part of it lies inside, or its enter does: the rule of the analysis
// flat-profile, so both count the same calls.
//
// Memory: a mark for kEventsPerMark events or more, and the open calls there, 56 bytes each. Threading: after
// the constructor, which uses all processors, any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/calls/call_stack.h"
#include "trace/reader.h"

namespace fathom::view {

struct SeenCall {
  std::uint64_t enter_ns = 0,
                leave_ns = 0;   // leave: the process's last moment, if none was recorded
  std::uint64_t bytes = 0;      // as the arguments say; kUnsized: the function names none
  std::uint64_t site = 0;       // return address; 0: not recorded
  std::uint64_t nested_ns = 0;  // in calls inside it, in the window
  std::uint32_t thread = 0, function = 0, depth = 0;
  std::uint32_t phase = analysis::PhaseStack::kNone;  // in which it was entered
};

class CallsInWindow {
 public:
  static constexpr std::size_t kMostMarks = 256, kEventsPerMark = 4096;

  // Reads the whole trace, which must outlive this.
  explicit CallsInWindow(const trace::Trace& trace);

  // Calls see(call) with each call of the process that touches [from_ns, to_ns), in the order in which they
  // end or, if they are open when the window ends, after all others.
  template <typename See>
  void for_each(std::size_t process, std::uint64_t from_ns, std::uint64_t to_ns, See see) const {
    Walk walk(*this, process, from_ns, to_ns);
    SeenCall call;
    while (walk.next(call)) see(call);
  }

  std::uint64_t first_ns() const { return first_ns_; }
  std::uint64_t last_ns() const { return last_ns_; }  // the last event's moment

 private:
  struct Mark {
    std::uint64_t at_ns = 0;  // the state before any event at or after this
    std::vector<SeenCall> open;
    analysis::PhaseStack phases;
  };

  // One process, from its mark on.
  class Walk {
   public:
    Walk(const CallsInWindow& calls, std::size_t process, std::uint64_t from_ns,
         std::uint64_t to_ns);
    bool next(SeenCall& call);

   private:
    bool take(const trace::Event& event, SeenCall& call);
    bool touches(const SeenCall& call) const;
    bool close_rest(SeenCall& call);
    void close_innermost(std::vector<SeenCall>& stack, std::uint64_t leave_ns,
                         SeenCall& call) const;

    std::uint64_t from_ns_, to_ns_, last_ns_;
    trace::EventCursor cursor_;
    analysis::PhaseStack phases_;
    std::vector<std::vector<SeenCall>> open_;  // by thread, outermost first
    std::vector<SeenCall> ready_;              // closed together with an outer one
    bool at_end_ = false;
  };

  void mark_process(std::size_t process);

  const trace::Trace& trace_;
  std::uint64_t first_ns_ = 0, last_ns_ = 0;
  std::vector<std::vector<Mark>> marks_;  // by process
  std::vector<std::uint64_t> ends_ns_;    // by process: its last event
};

}  // namespace fathom::view

// SPDX-License-Identifier: BSD-3-Clause
// The events of one process in a scope, as complete calls: a call open at the beginning of the time
// window gets its Enter there, a call open at its end its Leave there. For a phase: the calls
// entered in it, and what else happened while it was the innermost phase.
//
// Calls open at the end of the trace stay open. Memory: the open calls.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "analysis/calls/call_stack.h"
#include "analysis/scope/scope_filter.h"
#include "trace/reader.h"

namespace fathom::python {

class ScopedEvents {
 public:
  // The caller selects by the scope's ranks. The scope must outlive this.
  ScopedEvents(const trace::Trace& trace, std::size_t process, const analysis::Scope& scope);

  bool next(trace::Event& event);  // false at the end

  // Index of the last event in the process's trace; -1 for a Leave added where the window ends.
  std::int64_t position() const { return position_; }

 private:
  struct Placed : trace::Event {
    std::int64_t position = -1;
  };
  struct Open : Placed {
    bool wanted = false;
  };

  bool follow(const Placed& event);
  bool leave(const trace::Event& event);
  void begin();
  void end();

  trace::EventCursor cursor_;
  const analysis::Scope& scope_;
  const analysis::ScopeFilter filter_;
  const bool all_;
  bool begun_ = false, ended_ = false;
  analysis::PhaseStack phases_;
  std::vector<std::vector<Open>> open_;  // by thread
  std::deque<Placed> ready_;             // to be given before more is read
  std::int64_t read_ = 0;                // events so far
  std::int64_t position_ = -1;
};

}  // namespace fathom::python

// SPDX-License-Identifier: BSD-3-Clause
// The events of one process that lie in a scope, whole calls only: one that is open when the window
// of time begins is entered there, one that is open when it ends is left there. Of a phase: the
// calls that were entered and what else happened while it was the innermost.
//
// Calls that are open where the trace ends stay so. Memory: the calls that are open.
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
  // The scope's ranks are the caller's. The scope must outlive this.
  ScopedEvents(const trace::Trace& trace, std::size_t process, const analysis::Scope& scope);

  bool next(trace::Event& event);  // false at the end

 private:
  struct Open : trace::Event {
    bool wanted = false;
  };

  bool follow(const trace::Event& event);
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
  std::deque<trace::Event> ready_;       // to be given before more is read
};

}  // namespace fathom::python

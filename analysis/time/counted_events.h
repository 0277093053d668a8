// SPDX-License-Identifier: BSD-3-Clause
// What a figure over time is counted from: the events of a trace that lie in a scope, all of them
// or a choice.
//
// An analysis counts together with the processes of its Input; an operation of the Python package
// counts alone, so that it never waits for another process.
#pragma once

#include <span>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/scope/event_choice.h"
#include "analysis/scope/input.h"
#include "trace/join/program_spans.h"

namespace fathom::analysis {

// The members must outlive the count.
struct CountedEvents {
  const trace::Trace& trace;
  Transport& transport;
  const Scope& scope;
  const std::vector<trace::Span>&
      programs;                         // by process: its part between MPI_Init and MPI_Finalize
  const EventChoice* choice = nullptr;  // nullptr: all in the scope
};

// What an analysis counts: its scope, without a choice. Collective over the transport at first.
CountedEvents counted_events(const Input& input);

// One pass over the events of all own processes.
base::Status pass_over(const CountedEvents& events, EventConsumer& consumer);

// Says of each process's events, in their order, whether they are chosen.
class ChoiceCursor {
 public:
  ChoiceCursor(const EventChoice* choice, std::size_t processes)
      : choice_(choice), passed_(processes) {}

  bool next(std::uint32_t process) {
    return choice_ == nullptr || choice_->holds(process, passed_[process]++);
  }
  bool all() const { return choice_ == nullptr; }

 private:
  const EventChoice* choice_;
  std::vector<std::uint64_t> passed_;  // by process
};

}  // namespace fathom::analysis

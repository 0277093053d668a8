// SPDX-License-Identifier: BSD-3-Clause
#include "trace/join/program_spans.h"

#include <algorithm>

#include "trace/meanings.h"

namespace fathom::trace {
namespace {

bool is_call(const Event& event) {
  return event.kind == EventKind::kEnter || event.kind == EventKind::kLeave;
}

}  // namespace

// What the events from some moment on say about the last calls.
struct ProgramSpans::Ending {
  std::uint64_t finalize_ns = 0;
  bool entered = false, left = false;  // MPI_Finalize
  bool between = false;                // a call that needs MPI
};

ProgramSpans::ProgramSpans(const Trace& trace) : trace_(trace) {
  // The group kEnvironment has the functions that may be called before MPI_Init and after
  // MPI_Finalize, such as MPI_Initialized (MPI 4.1, section 11.4.1).
  for (const mpi::Meaning& meaning : meanings(trace.definitions()))
    kinds_.push_back(meaning.begins_job                     ? Kind::kBegins
                     : meaning.ends_job                     ? Kind::kEnds
                     : meaning.group == Group::kEnvironment ? Kind::kAnyTime
                                                            : Kind::kBetween);
}

Span ProgramSpans::of(std::size_t process) const {
  const Process& facts = trace_.definitions().processes[process];
  Span span{facts.first_ns, std::max(facts.first_ns, facts.last_ns)};
  find_begin(process, span.from_ns);
  find_end(process, span.to_ns);
  span.to_ns = std::max(span.from_ns, span.to_ns);
  return span;
}

bool ProgramSpans::find_begin(std::size_t process, std::uint64_t& time_ns) const {
  EventCursor cursor = trace_.events(process);
  bool begun = false;
  for (Event event; cursor.next(event);) {
    if (!is_call(event)) continue;
    const Kind kind = kind_of(event);
    if (kind == Kind::kBegins && event.kind == EventKind::kLeave) {
      time_ns = event.time_ns;
      return true;
    }
    begun |= kind == Kind::kBegins;
    // Inside MPI_Init the library may call other functions, which are then part of it.
    if (kind == Kind::kEnds || (kind == Kind::kBetween && !begun)) return false;
  }
  return false;
}

ProgramSpans::Ending ProgramSpans::ending_after(std::size_t process, std::uint64_t time_ns) const {
  EventCursor cursor = trace_.events(process);
  cursor.seek(time_ns);
  Ending ending;
  for (Event event; cursor.next(event);) {
    if (!is_call(event)) continue;
    const Kind kind = kind_of(event);
    if (kind == Kind::kEnds && event.kind == EventKind::kEnter) {
      ending.entered = true;
      ending.finalize_ns = event.time_ns;
    }
    ending.left |= kind == Kind::kEnds && event.kind == EventKind::kLeave;
    ending.between |= kind == Kind::kBetween;
  }
  return ending;
}

// MPI_Finalize is near the end, but may take long: looks at ever longer ends of the trace, until one
// contains its beginning, or a call that shows that there is none.
bool ProgramSpans::find_end(std::size_t process, std::uint64_t& time_ns) const {
  const Process& facts = trace_.definitions().processes[process];
  const std::uint64_t whole_ns = facts.last_ns - std::min(facts.first_ns, facts.last_ns);
  for (std::uint64_t ns = 1'000'000;; ns *= 4) {
    const bool all = ns >= whole_ns;
    const Ending ending = ending_after(process, all ? facts.first_ns : facts.last_ns - ns);
    if (ending.entered) {
      time_ns = ending.finalize_ns;
      return true;
    }
    if (all || (ending.between && !ending.left)) return false;
  }
}

}  // namespace fathom::trace

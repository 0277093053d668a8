// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/time/flat_profile.h"

#include <algorithm>
#include <tuple>

#include "analysis/calls/call_stack.h"
#include "analysis/engine/lazy_job.h"
#include "analysis/engine/parcels.h"
#include "analysis/scope/scope_filter.h"
#include "analysis/scope/trace_span.h"
#include "base/flat_map.h"
#include "base/process/parallel.h"

namespace fathom::analysis {
namespace {

using trace::Event;
using trace::EventKind;

struct State {
  CallStacks stacks;
  PhaseStack phases;
  base::FlatMap<std::uint64_t, CallRow> rows;  // by function and communicator
  TraceSpan program;
  std::uint64_t in_mpi_ns = 0, outside_ns = 0;  // of the first thread, in the program's part of
                                                // the scope
  std::uint64_t outside_since_ns = 0;
  std::uint64_t sampled_ns = 0;  // of calls recorded only as sums between others
  std::uint64_t last_ns = 0;
  std::uint32_t gaps = 0;  // losses and pauses
};

class FunctionTimer : public EventConsumer {
 public:
  explicit FunctionTimer(const CountedEvents& events)
      : definitions_(events.trace.definitions()),
        scope_(events.scope, definitions_),
        choice_(events.choice, definitions_.processes.size()),
        states_(definitions_.processes.size()) {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      states_[i].program = events.programs[i];
      states_[i].outside_since_ns = definitions_.processes[i].first_ns;
    }
  }

  void events(std::uint32_t process, std::span<const Event> events) override {
    if (!scope_.process(process)) return;
    State& state = states_[process];
    for (const Event& event : events) {
      const bool chosen = choice_.next(process);
      switch (event.kind) {
        case EventKind::kEnter: enter(state, event, chosen); break;
        case EventKind::kLeave: leave(state, event.thread, event.function, event.time_ns); break;
        case EventKind::kSampled:
          if (chosen) sampled(state, event);
          break;
        case EventKind::kLost:
        case EventKind::kPause: ++state.gaps; break;
        case EventKind::kPhaseBegin:
        case EventKind::kPhaseEnd:
          outside_until(state, event.time_ns);
          state.phases.take(event);
          break;
        default: break;
      }
    }
    if (!events.empty()) state.last_ns = std::max(state.last_ns, events.back().time_ns);
  }

  void end(std::uint32_t process) override {
    if (!scope_.process(process)) return;
    State& state = states_[process];
    for (std::uint32_t thread = 0; thread < state.stacks.threads(); ++thread) {
      auto& open = state.stacks.of(thread);
      while (!open.empty()) leave(state, thread, open.back().function, state.last_ns);
    }
    tell(process, state);
    state = {};
  }

  std::vector<CallRow> rows;

 private:
  std::uint64_t in_program_ns(const State& state, std::uint64_t from_ns,
                              std::uint64_t to_ns) const {
    return scope_.inside_ns(std::max(from_ns, state.program.from_ns),
                            std::min(to_ns, state.program.to_ns));
  }

  // Time of the program since the last call or change of phase.
  void outside_until(State& state, std::uint64_t time_ns) const {
    if (!state.stacks.of(0).empty()) return;
    if (scope_.phase(state.phases.now()))
      state.outside_ns += in_program_ns(state, state.outside_since_ns, time_ns);
    state.outside_since_ns = time_ns;
  }

  void enter(State& state, const Event& event, bool chosen) const {
    if (event.thread == 0) outside_until(state, event.time_ns);
    state.stacks.of(event.thread)
        .push_back({event.time_ns, 0, event.bytes, event.function, event.communicator,
                    state.phases.now(), chosen});
  }

  void leave(State& state, std::uint32_t thread, std::uint32_t function, std::uint64_t time_ns) {
    auto& open = state.stacks.of(thread);
    for (std::size_t left = CallStacks::closed_by(open, function); left > 0; --left) {
      const OpenCall call = open.back();
      open.pop_back();
      if (thread == 0) state.outside_since_ns = time_ns;
      const std::uint64_t inside_ns = scope_.inside_ns(call.enter_ns, time_ns);
      if (!open.empty()) open.back().inside_ns += inside_ns;
      if (!call.chosen || !scope_.phase(call.phase)) continue;
      if (inside_ns == 0 && !scope_.at(call.enter_ns)) continue;
      if (open.empty() && thread == 0)
        state.in_mpi_ns += in_program_ns(state, call.enter_ns, time_ns);
      CallRow& row = state.rows[key(call.function, call.communicator)];
      ++row.count;
      row.inclusive_ns += inside_ns;
      row.exclusive_ns += inside_ns - std::min(inside_ns, call.inside_ns);
      row.shortest_ns = std::min(row.shortest_ns, inside_ns);
      row.longest_ns = std::max(row.longest_ns, inside_ns);
      row.bytes += call.bytes;
    }
  }

  void sampled(State& state, const Event& event) const {
    if (!scope_.at(event.time_ns) || !scope_.phase(state.phases.now())) return;
    CallRow& row = state.rows[key(event.function, -1)];
    row.count += event.count;
    row.inclusive_ns += event.offset;
    row.exclusive_ns += event.offset;
    if (event.thread != 0) return;
    row.sampled_ns += event.offset;
    state.sampled_ns += event.offset;
  }

  static std::uint64_t key(std::uint32_t function, std::int32_t communicator) {
    return std::uint64_t{function} << 32 | static_cast<std::uint32_t>(communicator);
  }

  void tell(std::uint32_t process, State& state) {
    state.rows.for_each([&](std::uint64_t key, CallRow row) {
      row.process = process;
      row.function = static_cast<std::uint32_t>(key >> 32);
      row.communicator = static_cast<std::int32_t>(key);
      if (row.shortest_ns == ~std::uint64_t{0}) row.shortest_ns = 0;
      rows.push_back(row);
    });
    if (!choice_.all()) return;
    outside_until(state, std::max(definitions_.processes[process].last_ns, state.last_ns));
    const std::uint64_t span_ns = state.outside_ns + state.in_mpi_ns;
    if (span_ns == 0 && !scope_.phase(PhaseStack::kNone)) return;  // never in that phase
    CallRow program;
    program.process = process;
    program.function = kProgram;
    program.gaps = state.gaps;
    program.count = 1;
    program.inclusive_ns = span_ns;
    program.sampled_ns = std::min(state.outside_ns, state.sampled_ns);
    program.exclusive_ns = state.outside_ns - std::min(state.outside_ns, state.sampled_ns);
    program.shortest_ns = program.longest_ns = span_ns;
    rows.push_back(program);
  }

  const trace::Definitions& definitions_;
  const ScopeFilter scope_;
  ChoiceCursor choice_;
  std::vector<State> states_;
};

void sort_rows(std::vector<CallRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const CallRow& a, const CallRow& b) {
    return std::tie(a.process, a.function, a.communicator) <
           std::tie(b.process, b.function, b.communicator);
  });
}

// Feeds the events of a process that touch the scope's window. The joined job knows where to begin, and how
// often records were lost elsewhere.
void count_window(const CountedEvents& events, const JoinedJob& job, std::uint32_t process,
                  FunctionTimer& counter) {
  const trace::Definitions& definitions = job.definitions();
  trace::EventCursor cursor = events.trace.events(process);
  const std::uint32_t begin = job.steps_in(process, events.scope.from_ns, events.scope.to_ns).begin;
  // What came before says which phases are open.
  if (begin > 0 && definitions.phases.empty()) cursor.seek(job.steps().at(process, begin).time_ns);
  std::vector<Event> batch(256);
  for (bool more = true; more;) {
    std::size_t size = 0;
    while (size < batch.size() && more && (more = cursor.next(batch[size])))
      more = batch[size++].time_ns < events.scope.to_ns;  // the next one says what is still open
    counter.events(process, std::span<const Event>(batch.data(), size));
  }
  const std::size_t before = counter.rows.size();
  counter.end(process);
  for (std::size_t row = before; row < counter.rows.size(); ++row) {
    if (counter.rows[row].function == kProgram)
      counter.rows[row].gaps = static_cast<std::uint32_t>(job.summary().processes[process].losses);
  }
}

// As count_calls(), for an analysis that is alone, at the cost of the window.
std::vector<CallRow> calls_in_window(const CountedEvents& events, const JoinedJob& job) {
  const std::vector<std::uint32_t> chosen = ScopeFilter(events.scope, job.definitions()).chosen();
  const std::size_t threads = threads_of(events.transport);
  std::vector<std::vector<CallRow>> found(threads);
  base::in_parallel(
      threads,
      [&](std::size_t thread) {
        FunctionTimer counter(events);
        for (std::size_t i = thread; i < chosen.size(); i += threads)
          count_window(events, job, chosen[i], counter);
        found[thread] = std::move(counter.rows);
      },
      threads);
  std::vector<CallRow> rows;
  for (const auto& part : found) rows.insert(rows.end(), part.begin(), part.end());
  sort_rows(rows);
  return rows;
}

}  // namespace

base::Result<std::vector<CallRow>> count_calls(const CountedEvents& events) {
  FunctionTimer counter(events);
  if (const base::Status passed = pass_over(events, counter); !passed) return passed.error();
  auto rows = gathered(events.transport, counter.rows);
  sort_rows(rows);
  return rows;
}

base::Result<std::vector<CallRow>> call_rows(const Input& input) {
  const auto count = [&]() -> base::Result<std::vector<CallRow>> {
    const CountedEvents events = counted_events(input);
    const JoinedJob* const job = input.job->already_joined();
    const bool alone = events.transport.size() == 1 && !input.scope.whole_time();
    if (alone && job != nullptr) return calls_in_window(events, *job);
    return count_calls(events);
  };
  return input.calls ? input.calls->once(count) : count();
}

}  // namespace fathom::analysis

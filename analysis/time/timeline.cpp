// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/time/timeline.h"

#include <algorithm>
#include <span>

#include "analysis/calls/call_stack.h"
#include "analysis/engine/lazy_job.h"
#include "analysis/engine/parcels.h"
#include "analysis/scope/scope_filter.h"
#include "analysis/time/counted_events.h"
#include "analysis/time/time_bins.h"
#include "base/seconds.h"
#include "trace/attributes.h"
#include "trace/meanings.h"

namespace fathom::analysis {
namespace {

using trace::Event;
using trace::EventKind;

constexpr std::size_t kGroups = static_cast<std::size_t>(trace::Group::kEnvironment) + 1;

std::vector<std::uint64_t> edges_of(const TraceSpan& span) {
  const std::uint64_t width_ns =
      std::max<std::uint64_t>(1, (span.ns() + kTimelineBins - 1) / kTimelineBins);
  std::vector<std::uint64_t> edges;
  for (std::size_t bin = 0; bin <= kTimelineBins; ++bin)
    edges.push_back(span.from_ns + bin * width_ns);
  return edges;
}

class GridCounter : public EventConsumer {
 public:
  GridCounter(const Input& input, const ScopeFilter& scope, const std::vector<TimelineRow>& rows,
              const TimeBins& bins)
      : cells(rows.size() * kGroups, bins.count()),
        phases(input.trace->definitions().phases.size(), bins.count()),
        called(input.trace->definitions().functions.size()),
        definitions_(input.trace->definitions()),
        scope_(scope),
        bins_(bins),
        states_(definitions_.processes.size()),
        rows_(definitions_.processes.size()) {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::uint32_t process = rows[row].first_process; process <= rows[row].last_process;
           ++process)
        rows_[process].push_back(row);
    }
  }

  void events(std::uint32_t process, std::span<const Event> events) override {
    if (!scope_.process(process)) return;
    State& state = states_[process];
    for (const Event& event : events) {
      if (event.kind == EventKind::kEnter) {
        auto& open = state.stacks.of(event.thread);
        open.push_back({event.time_ns, 0, 0, event.function, -1, state.phases.now(), true});
        called[event.function] = 1;
      } else if (event.kind == EventKind::kLeave) {
        leave(process, event.thread, event.function, event.time_ns);
      } else if (event.kind == EventKind::kPhaseBegin || event.kind == EventKind::kPhaseEnd) {
        phase_until(state, event.time_ns);
        state.phases.take(event);
      }
    }
    if (!events.empty()) state.last_ns = events.back().time_ns;
  }

  void end(std::uint32_t process) override {
    if (!scope_.process(process)) return;
    State& state = states_[process];
    for (std::uint32_t thread = 0; thread < state.stacks.threads(); ++thread) {
      const auto& open = state.stacks.of(thread);
      if (!open.empty()) leave(process, thread, open.front().function, state.last_ns);
    }
    phase_until(state, state.last_ns);
    state = {};
  }

  BinCounts cells;                    // by row × group
  BinCounts phases;                   // by phase
  std::vector<std::uint64_t> called;  // by function: whether it was

 private:
  struct State {
    CallStacks stacks;
    PhaseStack phases;
    std::uint64_t phase_since_ns = 0, last_ns = 0;
  };

  void phase_until(State& state, std::uint64_t time_ns) {
    const std::uint32_t phase = state.phases.now();
    if (phase < definitions_.phases.size() && scope_.phase(phase))
      bins_.add(state.phase_since_ns, time_ns, phases.of(phase));
    state.phase_since_ns = time_ns;
  }

  void leave(std::uint32_t process, std::uint32_t thread, std::uint32_t function,
             std::uint64_t time_ns) {
    auto& open = states_[process].stacks.of(thread);
    const std::size_t closed = CallStacks::closed_by(open, function);
    if (closed == 0) return;
    const OpenCall outermost = open.front();
    open.resize(open.size() - closed);
    // Only the outermost call counts: a moment must not be in two groups.
    if (!open.empty() || !scope_.phase(outermost.phase)) return;
    const auto& rows = rows_[process];
    const std::size_t row = rows[std::min<std::size_t>(thread, rows.size() - 1)];
    const auto group = static_cast<std::size_t>(definitions_.functions[outermost.function].group);
    bins_.add(outermost.enter_ns, time_ns, cells.of(row * kGroups + group));
  }

  const trace::Definitions& definitions_;
  const ScopeFilter& scope_;
  const TimeBins& bins_;
  std::vector<State> states_;
  std::vector<std::vector<std::size_t>> rows_;  // by process: of its threads, or the one of all
};

// Sums at analysis process 0.
void add_all(Transport& transport, BinCounts& counts) {
  const std::vector<std::uint64_t> all = gathered(transport, counts.values());
  const std::size_t size = counts.values().size();
  BinCounts sums(counts.series(), size == 0 ? 0 : size / counts.series());
  for (std::size_t i = 0; i < all.size(); i += size) sums.add(std::span(all).subspan(i, size));
  counts = std::move(sums);
}

void add_all(Transport& transport, std::vector<std::uint64_t>& counts) {
  const std::vector<std::uint64_t> all = gathered(transport, counts);
  for (std::size_t i = 0; i < all.size(); ++i) counts[i % counts.size()] += all[i];
}

struct Cell {
  std::size_t series = 0, bin = 0;
  std::uint64_t ns = 0;
};

std::vector<Cell> filled(const BinCounts& counts) {
  std::vector<Cell> cells;
  for (std::size_t series = 0; series < counts.series(); ++series) {
    const auto row = counts.of(series);
    for (std::size_t bin = 0; bin < row.size(); ++bin) {
      if (row[bin] > 0) cells.push_back({series, bin, row[bin]});
    }
  }
  return cells;
}

std::int64_t signed_of(std::size_t number) { return static_cast<std::int64_t>(number); }

void lay_out_rows(const std::vector<TimelineRow>& rows, const trace::Definitions& definitions,
                  Section& section) {
  Table& table = section.table("rows");
  add_column(table, "rank", rows,
             [&](const TimelineRow& row) { return definitions.processes[row.first_process].rank; });
  add_column(table, "last_rank", rows,
             [&](const TimelineRow& row) { return definitions.processes[row.last_process].rank; });
  add_column(table, "thread", rows, [](const TimelineRow& row) { return row.thread; });
  add_column(table, "threads", rows, [](const TimelineRow& row) { return row.threads; });
}

void lay_out_grid(const GridCounter& grid, const trace::Definitions& definitions,
                  Section& section) {
  const std::vector<Cell> cells = filled(grid.cells);
  Table& table = section.table("cells");
  add_column(table, "row", cells,
             [](const Cell& cell) { return signed_of(cell.series / kGroups); });
  add_column(table, "bin", cells, [](const Cell& cell) { return signed_of(cell.bin); });
  add_column(table, "group", cells, [](const Cell& cell) {
    return std::string(trace::name_of(static_cast<trace::Group>(cell.series % kGroups)));
  });
  add_column(table, "seconds", cells, [](const Cell& cell) { return base::seconds(cell.ns); });
  const std::vector<Cell> in_phases = filled(grid.phases);
  Table& phases = section.table("phases");
  add_column(phases, "name", in_phases,
             [&](const Cell& cell) { return definitions.phases[cell.series]; });
  add_column(phases, "bin", in_phases, [](const Cell& cell) { return signed_of(cell.bin); });
  add_column(phases, "seconds", in_phases, [](const Cell& cell) { return base::seconds(cell.ns); });
}

void lay_out_functions(const std::vector<std::uint64_t>& called,
                       const trace::Definitions& definitions, Section& section) {
  std::vector<const trace::Function*> functions;
  for (std::size_t i = 0; i < called.size(); ++i) {
    if (called[i] > 0) functions.push_back(&definitions.functions[i]);
  }
  Table& table = section.table("functions");
  add_column(table, "name", functions, [](const auto* function) { return function->name; });
  add_column(table, "group", functions,
             [](const auto* function) { return std::string(trace::name_of(function->group)); });
}

}  // namespace

std::vector<TimelineRow> timeline_rows(const trace::Definitions& definitions,
                                       const std::vector<std::uint32_t>& chosen, std::size_t most) {
  const auto threads_of = [&](std::uint32_t process) {
    return std::max<std::size_t>(1, definitions.processes[process].threads.size());
  };
  std::size_t threads = 0;
  for (const std::uint32_t process : chosen) threads += threads_of(process);
  std::vector<TimelineRow> rows;
  if (threads <= most) {
    for (const std::uint32_t process : chosen) {
      for (std::size_t thread = 0; thread < threads_of(process); ++thread)
        rows.push_back({process, process, signed_of(thread), 1});
    }
    return rows;
  }
  const std::size_t together = (chosen.size() + most - 1) / most;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (i % together == 0) rows.push_back({chosen[i], chosen[i], -1, 0});
    rows.back().last_process = chosen[i];
    rows.back().threads += threads_of(chosen[i]);
  }
  return rows;
}

base::Result<Outcome> timeline(const Input& input) {
  const trace::Definitions& definitions = input.trace->definitions();
  const ScopeFilter scope(input.scope, definitions);
  const TraceSpan span = span_of(input.job->programs(), definitions, input.scope);
  const TimeBins bins(edges_of(span), input.scope);
  const auto rows = timeline_rows(definitions, scope.chosen(), kTimelineRows);
  GridCounter grid(input, scope, rows, bins);
  const CountedEvents events = counted_events(input);
  if (const base::Status passed = pass_over(events, grid); !passed) return passed.error();
  add_all(events.transport, grid.cells);
  add_all(events.transport, grid.phases);
  add_all(events.transport, grid.called);
  Outcome outcome;
  outcome.section.figure("from_s", base::seconds(span.from_ns));
  outcome.section.figure("to_s", base::seconds(span.to_ns));
  outcome.section.figure("bin_seconds", base::seconds(bins.end_ns(0) - bins.begin_ns(0)));
  outcome.section.figure("bins", static_cast<std::uint64_t>(bins.count()));
  lay_out_rows(rows, definitions, outcome.section);
  lay_out_grid(grid, definitions, outcome.section);
  lay_out_functions(grid.called, definitions, outcome.section);
  return outcome;
}

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/time/idle_time.h"

#include <algorithm>
#include <iterator>

#include "analysis/engine/each_wait.h"
#include "analysis/engine/lazy_job.h"
#include "analysis/engine/parcels.h"
#include "analysis/scope/known_time.h"
#include "analysis/scope/scope_filter.h"
#include "analysis/scope/trace_span.h"
#include "analysis/time/flat_profile.h"
#include "base/process/parallel.h"
#include "base/seconds.h"
#include "trace/meanings.h"

namespace fathom::analysis {
namespace {

struct IdleRow {
  std::uint32_t process = 0, waits = 0;
  std::uint64_t span_ns = 0, program_ns = 0, mpi_ns = 0, blocking_ns = 0, waiting_ns = 0;
};

IdleRow waits_of(const JoinedJob& job, const Scope& part, const ScopeFilter& scope,
                 std::uint32_t process) {
  IdleRow row;
  row.process = process;
  const auto add = [&](const Step& call, const Wait& wait) {
    if (!is_between_init_and_finalize(job.definitions(), call.number)) return;
    const std::uint64_t inside_ns = scope.inside_ns(call.time_ns, call.time_ns + wait.ns);
    if (inside_ns == 0 || !scope.phase(call.partner)) return;
    row.waiting_ns += inside_ns;
    ++row.waits;
  };
  for_each_wait(job, process, add, part.from_ns, part.to_ns);
  return row;
}

bool can_wait(const mpi::Meaning& facts) {
  const trace::Group group = facts.group;
  // It may be in a group that waits, but leaves the waiting to whatever completes its request.
  if (facts.immediate) return false;
  return group == trace::Group::kReceive || group == trace::Group::kSendReceive ||
         group == trace::Group::kCompletion || group == trace::Group::kProbe;
}

// The row of `process`; `rows` are ascending.
IdleRow* row_of(std::vector<IdleRow>& rows, std::uint32_t process) {
  const auto at = std::lower_bound(
      rows.begin(), rows.end(), process,
      [](const IdleRow& row, std::uint32_t number) { return row.process < number; });
  return at != rows.end() && at->process == process ? &*at : nullptr;
}

void add_times(const std::vector<CallRow>& calls, const trace::Definitions& definitions,
               std::vector<IdleRow>& rows) {
  for (const CallRow& call : calls) {
    IdleRow* row = row_of(rows, call.process);
    if (row == nullptr) continue;
    if (call.function == kProgram) {
      row->span_ns = call.inclusive_ns;
      row->program_ns = call.exclusive_ns;
    } else if (is_between_init_and_finalize(definitions, call.function)) {
      row->mpi_ns += call.exclusive_ns;
    }
  }
  std::vector<std::uint32_t> processes;
  for (const IdleRow& row : rows) processes.push_back(row.process);
  const auto blocking_ns = time_in(calls, processes, functions_that_can_wait(definitions));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].blocking_ns = blocking_ns[i];
}

// Time of the run, or of its window, before a process left MPI_Init and after it entered
// MPI_Finalize.
std::uint64_t outside_ns(const TraceSpan& program, const TraceSpan& run) {
  const std::uint64_t begin_ns = std::clamp(program.from_ns, run.from_ns, run.to_ns);
  return run.ns() - (std::clamp(program.to_ns, begin_ns, run.to_ns) - begin_ns);
}

void lay_out(const std::vector<IdleRow>& rows, const std::vector<TraceSpan>& programs,
             const trace::Definitions& definitions, const Scope& scope, const KnownTime& known,
             Section& section) {
  std::uint64_t waiting = 0;
  for (const IdleRow& row : rows) waiting += row.waiting_ns;
  const std::uint64_t all_ns = all_ranks_ns(programs, definitions, scope);
  const TraceSpan run = span_of(programs, definitions, scope);
  section.figure("waiting_seconds", base::seconds(waiting));
  if (known.waits)
    section.figure("waiting_share",
                   all_ns > 0 ? static_cast<double>(waiting) / static_cast<double>(all_ns) : 0.0);
  Table& table = section.table("idle_time");
  add_column(table, "rank", rows,
             [&](const IdleRow& row) { return definitions.processes[row.process].rank; });
  add_column(table, "seconds", rows, [](const IdleRow& row) { return base::seconds(row.span_ns); });
  add_column(table, "outside_seconds", rows, [&](const IdleRow& row) {
    return base::seconds(outside_ns(programs[row.process], run));
  });
  add_column(table, "program_seconds", rows,
             [](const IdleRow& row) { return base::seconds(row.program_ns); });
  add_column(table, "mpi_seconds", rows,
             [](const IdleRow& row) { return base::seconds(row.mpi_ns); });
  add_column(table, "blocking_seconds", rows,
             [](const IdleRow& row) { return base::seconds(row.blocking_ns); });
  add_column(table, "waiting_seconds", rows,
             [](const IdleRow& row) { return base::seconds(row.waiting_ns); });
  add_column(table, "waits", rows, [](const IdleRow& row) { return std::uint64_t{row.waits}; });
}

}  // namespace

std::vector<bool> functions_that_can_wait(const trace::Definitions& definitions) {
  std::vector<bool> waiting;
  for (const mpi::Meaning& meaning : trace::meanings(definitions))
    waiting.push_back(can_wait(meaning));
  return waiting;
}

std::vector<std::uint64_t> time_in(const std::vector<CallRow>& calls,
                                   const std::vector<std::uint32_t>& processes,
                                   const std::vector<bool>& functions) {
  std::vector<std::uint64_t> sums(processes.size());
  for (const CallRow& call : calls) {
    if (call.function == kProgram || !functions[call.function]) continue;
    const auto at = std::lower_bound(processes.begin(), processes.end(), call.process);
    if (at != processes.end() && *at == call.process)
      sums[static_cast<std::size_t>(at - processes.begin())] += call.inclusive_ns;
  }
  return sums;
}

base::Result<Outcome> idle_time(const Input& input) {
  auto joined = input.job->joined();
  if (!joined) return joined.error();
  const auto calls = call_rows(input);
  if (!calls) return calls.error();
  const JoinedJob& job = **joined;
  const ScopeFilter scope(input.scope, job.definitions());
  std::vector<std::uint32_t> chosen;
  std::copy_if(job.own().begin(), job.own().end(), std::back_inserter(chosen),
               [&](std::uint32_t process) { return scope.process(process); });
  std::vector<IdleRow> own(chosen.size());
  base::in_parallel(
      chosen.size(), [&](std::size_t i) { own[i] = waits_of(job, input.scope, scope, chosen[i]); },
      threads_of(job.transport()));
  std::vector<IdleRow> rows = gathered(job.transport(), own);
  std::sort(rows.begin(), rows.end(),
            [](const IdleRow& a, const IdleRow& b) { return a.process < b.process; });
  add_times(*calls, job.definitions(), rows);
  Outcome outcome;
  lay_out(rows, input.job->programs(), job.definitions(), input.scope,
          known_time(job.definitions(), job.gaps()), outcome.section);
  return outcome;
}

}  // namespace fathom::analysis

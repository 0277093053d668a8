// SPDX-License-Identifier: BSD-3-Clause
// The tables of the flat profile: written once for a result, where the times are of every event.
#include <algorithm>
#include <tuple>

#include "analysis/engine/lazy_job.h"
#include "analysis/scope/known_time.h"
#include "analysis/scope/trace_span.h"
#include "analysis/time/flat_profile.h"
#include "base/seconds.h"

namespace fathom::analysis {
namespace {

struct FunctionRow {
  std::uint32_t function = 0;
  std::uint64_t count = 0, inclusive_ns = 0, exclusive_ns = 0, bytes = 0, most_ns = 0,
                processes = 0;
  std::uint32_t most_process = 0;
};

// Summed over communicators and processes, with the process that has the most exclusive time.
std::vector<FunctionRow> by_function(const std::vector<CallRow>& rows) {
  std::vector<FunctionRow> functions;
  const auto of = [&](std::uint32_t function) -> FunctionRow& {
    for (FunctionRow& row : functions) {
      if (row.function == function) return row;
    }
    functions.push_back({});
    functions.back().function = function;
    return functions.back();
  };
  for (std::size_t i = 0; i < rows.size();) {
    FunctionRow& sum = of(rows[i].function);
    const std::uint32_t process = rows[i].process, function = rows[i].function;
    std::uint64_t own_ns = 0;
    for (; i < rows.size() && rows[i].process == process && rows[i].function == function; ++i) {
      sum.count += rows[i].count;
      sum.inclusive_ns += rows[i].inclusive_ns;
      sum.exclusive_ns += rows[i].exclusive_ns;
      sum.bytes += rows[i].bytes;
      own_ns += rows[i].exclusive_ns;
    }
    ++sum.processes;
    if (own_ns <= sum.most_ns) continue;
    sum.most_ns = own_ns;
    sum.most_process = process;
  }
  std::sort(functions.begin(), functions.end(), [](const FunctionRow& a, const FunctionRow& b) {
    return std::make_tuple(b.exclusive_ns, a.function) <
           std::make_tuple(a.exclusive_ns, b.function);
  });
  return functions;
}

void lay_out(const std::vector<CallRow>& rows, std::uint64_t all_ns,
             const trace::Definitions& definitions, Section& section) {
  std::uint64_t mpi_ns = 0, first_threads_ns = 0;
  const std::vector<FunctionRow> functions = by_function(rows);
  for (const FunctionRow& row : functions) {
    if (is_between_init_and_finalize(definitions, row.function)) mpi_ns += row.exclusive_ns;
    if (row.function == kProgram) first_threads_ns += row.inclusive_ns - row.exclusive_ns;
  }
  section.figure("mpi_seconds", base::seconds(mpi_ns));
  const KnownTime known = known_time(definitions, gaps_in(rows));
  if (known.computing)
    section.figure(
        "mpi_share",
        all_ns > 0 ? static_cast<double>(first_threads_ns) / static_cast<double>(all_ns) : 0.0);
  Table& table = section.table("functions");
  add_column(table, "name", functions, [&](const FunctionRow& row) {
    return shown_function(definitions, row.function, known.computing);
  });
  add_column(table, "count", functions, [](const FunctionRow& row) { return row.count; });
  add_column(table, "ranks", functions, [](const FunctionRow& row) { return row.processes; });
  add_column(table, "inclusive_seconds", functions,
             [](const FunctionRow& row) { return base::seconds(row.inclusive_ns); });
  add_column(table, "exclusive_seconds", functions,
             [](const FunctionRow& row) { return base::seconds(row.exclusive_ns); });
  add_column(table, "bytes", functions, [](const FunctionRow& row) { return row.bytes; });
  add_column(table, "most_seconds", functions,
             [](const FunctionRow& row) { return base::seconds(row.most_ns); });
  add_column(table, "most_at_rank", functions,
             [&](const FunctionRow& row) { return definitions.processes[row.most_process].rank; });
  Table& calls = section.table("calls");
  add_column(calls, "rank", rows,
             [&](const CallRow& row) { return definitions.processes[row.process].rank; });
  add_column(calls, "name", rows, [&](const CallRow& row) {
    return shown_function(definitions, row.function, known.computing);
  });
  add_column(calls, "communicator", rows,
             [](const CallRow& row) { return std::int64_t{row.communicator}; });
  add_column(calls, "count", rows, [](const CallRow& row) { return row.count; });
  add_column(calls, "inclusive_seconds", rows,
             [](const CallRow& row) { return base::seconds(row.inclusive_ns); });
  add_column(calls, "exclusive_seconds", rows,
             [](const CallRow& row) { return base::seconds(row.exclusive_ns); });
  add_column(calls, "shortest_seconds", rows,
             [](const CallRow& row) { return base::seconds(row.shortest_ns); });
  add_column(calls, "longest_seconds", rows,
             [](const CallRow& row) { return base::seconds(row.longest_ns); });
  add_column(calls, "bytes", rows, [](const CallRow& row) { return row.bytes; });
}

}  // namespace

base::Result<Outcome> flat_profile(const Input& input) {
  const auto rows = call_rows(input);
  if (!rows) return rows.error();
  const trace::Definitions& definitions = input.trace->definitions();
  Outcome outcome;
  lay_out(*rows, all_ranks_ns(input.job->programs(), definitions, input.scope), definitions,
          outcome.section);
  return outcome;
}

}  // namespace fathom::analysis

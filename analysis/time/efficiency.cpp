// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/time/efficiency.h"

#include <algorithm>

#include "analysis/engine/lazy_job.h"
#include "analysis/scope/known_time.h"
#include "analysis/scope/scope_filter.h"
#include "analysis/scope/trace_span.h"
#include "analysis/time/flat_profile.h"
#include "base/seconds.h"

namespace fathom::analysis {
namespace {

Efficiencies divided(double mean_ns, double most_ns, double run_ns) {
  Efficiencies found;
  found.run_seconds = base::seconds(run_ns);
  found.mean_useful_seconds = base::seconds(mean_ns);
  found.most_useful_seconds = base::seconds(most_ns);
  if (run_ns <= 0 || most_ns <= 0) return found;
  found.parallel = mean_ns / run_ns;
  found.load_balance = mean_ns / most_ns;
  found.communication = most_ns / run_ns;
  return found;
}

void lay_out(const Efficiencies& found, Section& section) {
  section.figure("parallel_efficiency", found.parallel);
  section.figure("load_balance", found.load_balance);
  section.figure("communication_efficiency", found.communication);
  if (found.serialisation) section.figure("serialisation_efficiency", *found.serialisation);
  if (found.transfer) section.figure("transfer_efficiency", *found.transfer);
  section.figure("run_seconds", found.run_seconds);
  if (found.ideal_seconds) section.figure("ideal_run_seconds", *found.ideal_seconds);
  section.figure("mean_useful_seconds", found.mean_useful_seconds);
  section.figure("most_useful_seconds", found.most_useful_seconds);
}

bool is_whole(const Scope& scope) { return scope.whole_time() && !scope.ranks && !scope.phases; }

Outcome not_given(const KnownTime& known) {
  Outcome outcome;
  outcome.section.figure("not_given", known.not_given("efficiency"));
  return outcome;
}

// From the sums of calls alone: of a part of the run, and of a sampled trace.
Outcome undivided(const Input& input, const std::vector<CallRow>& rows) {
  const trace::Definitions& definitions = input.trace->definitions();
  const ScopeFilter scope(input.scope, definitions);
  double sum_ns = 0, most_ns = 0, run_ns = 0;
  if (is_whole(input.scope))
    run_ns = static_cast<double>(span_of(input.job->programs(), definitions, input.scope).ns());
  const auto ranks = static_cast<double>(scope.chosen().size());
  for (const CallRow& row : rows) {
    if (row.function != kProgram) continue;
    const auto useful_ns = static_cast<double>(row.exclusive_ns);
    sum_ns += useful_ns;
    most_ns = std::max(most_ns, useful_ns);
    run_ns = std::max(run_ns, static_cast<double>(row.inclusive_ns));
  }
  Outcome outcome;
  lay_out(divided(ranks > 0 ? sum_ns / ranks : 0, most_ns, run_ns), outcome.section);
  outcome.limits.push_back(
      "communication efficiency is divided into serialisation and transfer only for a whole run "
      "of which all calls were recorded");
  return outcome;
}

void lay_out_ranks(const IdealRun& run, const trace::Definitions& definitions, Section& section) {
  Table& table = section.table("efficiency");
  add_column(table, "rank", run.processes,
             [&](const IdealTime& time) { return definitions.processes[time.process].rank; });
  add_column(table, "useful_seconds", run.processes,
             [](const IdealTime& time) { return base::seconds(time.useful_ns); });
  add_column(table, "seconds", run.processes, [](const IdealTime& time) {
    return base::seconds(static_cast<double>(time.end_ns - time.begin_ns));
  });
  add_column(table, "ideal_seconds", run.processes, [](const IdealTime& time) {
    return base::seconds(static_cast<double>(time.ideal_end_ns - time.begin_ns));
  });
}

}  // namespace

Efficiencies efficiencies_of(const std::vector<IdealTime>& processes) {
  if (processes.empty()) return {};
  std::uint64_t begin_ns = ~std::uint64_t{0}, end_ns = 0, ideal_end_ns = 0, most_ns = 0;
  double sum_ns = 0;
  for (const IdealTime& time : processes) {
    begin_ns = std::min(begin_ns, time.begin_ns);
    end_ns = std::max(end_ns, time.end_ns);
    ideal_end_ns = std::max(ideal_end_ns, time.ideal_end_ns);
    most_ns = std::max(most_ns, time.useful_ns);
    sum_ns += static_cast<double>(time.useful_ns);
  }
  // Contradictory clocks can make a chain of dependences longer than the run.
  const auto run_ns = static_cast<double>(end_ns - std::min(begin_ns, end_ns));
  const auto ideal_ns =
      std::min(run_ns, static_cast<double>(ideal_end_ns - std::min(begin_ns, ideal_end_ns)));
  Efficiencies found =
      divided(sum_ns / static_cast<double>(processes.size()), static_cast<double>(most_ns), run_ns);
  found.ideal_seconds = base::seconds(ideal_ns);
  if (ideal_ns > 0) found.serialisation = std::min(1.0, static_cast<double>(most_ns) / ideal_ns);
  if (run_ns > 0) found.transfer = ideal_ns / run_ns;
  return found;
}

base::Result<Outcome> efficiency(const Input& input) {
  auto joined = input.job->joined();
  if (!joined) return joined.error();
  const KnownTime known = known_time((*joined)->definitions(), (*joined)->gaps());
  if (!known.computing || !known.ranks) return not_given(known);
  // Dependences cross the borders of a part, so the ideal network is replayed for whole runs only.
  if (!known.waits || !is_whole(input.scope)) {
    const auto rows = call_rows(input);
    if (!rows) return rows.error();
    return undivided(input, *rows);
  }
  const IdealRun run = ideal_run(**joined);
  Outcome outcome;
  lay_out(efficiencies_of(run.processes), outcome.section);
  lay_out_ranks(run, (*joined)->definitions(), outcome.section);
  if (run.released > 0) {
    outcome.limits.push_back(
        std::to_string(run.released) +
        " dependences are missing from the replay on an ideal network, because their other end is "
        "not in the trace; transfer efficiency may be too low");
  }
  return outcome;
}

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/time/load_imbalance.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>

#include "analysis/engine/lazy_job.h"
#include "analysis/scope/known_time.h"
#include "analysis/scope/scope_filter.h"
#include "analysis/scope/trace_span.h"
#include "analysis/time/flat_profile.h"
#include "base/seconds.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kTopRanks = 10;

std::uint64_t value_of(const CallRow& row, CallMetric metric) {
  switch (metric) {
    case CallMetric::kExclusiveNs: return row.exclusive_ns;
    case CallMetric::kInclusiveNs: return row.inclusive_ns;
    case CallMetric::kCount: return row.count;
  }
  return 0;
}

class ImbalanceFindings {
 public:
  ImbalanceFindings(const Input& input, std::vector<std::uint32_t> processes)
      : input_(input), definitions_(input.trace->definitions()), processes_(std::move(processes)) {}

  void tell(const std::vector<FunctionBalance>& functions, Outcome& outcome) const {
    Table& table = outcome.section.table("load_imbalance");
    add_column(table, "name", functions,
               [&](const FunctionBalance& f) { return shown_function(definitions_, f.function); });
    add_column(table, "imbalance", functions,
               [](const FunctionBalance& f) { return f.imbalance(); });
    add_column(table, "mean_seconds", functions,
               [](const FunctionBalance& f) { return base::seconds(f.mean()); });
    add_column(table, "most_seconds", functions,
               [](const FunctionBalance& f) { return base::seconds(f.most); });
    add_column(table, "least_seconds", functions,
               [](const FunctionBalance& f) { return base::seconds(f.least); });
    add_column(table, "lost_seconds", functions,
               [](const FunctionBalance& f) { return base::seconds(f.lost()); });
    add_column(table, "top_ranks", functions,
               [&](const FunctionBalance& f) { return top_ranks(f, kTopRanks); });
    for (const FunctionBalance& function : functions) {
      // Time in MPI is uneven because ranks wait in it, so only the program leads to a finding.
      if (function.function != kProgram) continue;
      outcome.section.figure("program_imbalance", function.imbalance());
      finding(function, outcome);
    }
  }

 private:
  std::vector<std::int64_t> top_ranks(const FunctionBalance& balance, std::size_t most) const {
    std::vector<std::int64_t> ranks;
    for (const std::size_t i : balance.top(most))
      ranks.push_back(definitions_.processes[processes_[i]].rank);
    return ranks;
  }

  // The culprits are in the upper half between mean and maximum; the others wait for them.
  void finding(const FunctionBalance& program, Outcome& outcome) const {
    const double most = static_cast<double>(program.most),
                 all = most * static_cast<double>(program.values.size());
    if (all <= 0 || program.values.size() < 2) return;
    const double balance = program.mean() / most, lost = program.lost();
    if (balance >= input_.thresholds.load_balance ||
        lost <
            input_.thresholds.wait_share * static_cast<double>(all_ranks_ns(
                                               input_.job->programs(), definitions_, input_.scope)))
      return;
    Finding& finding = outcome.findings.emplace_back();
    finding.kind = "load-imbalance";
    finding.seconds = base::seconds(lost);
    finding.strength = std::min(1.0, 2 * (1 - balance));
    finding.severity = severity_of(finding.strength);
    for (const std::size_t i : program.busiest()) {
      const auto ns = static_cast<double>(program.values[i]);
      auto& list = ns > (program.mean() + most) / 2 ? finding.culprits : finding.victims;
      if (list.size() < kMostListed) list.push_back(definitions_.processes[processes_[i]].rank);
    }
    finding.count = finding.culprits.size();
    if (input_.scope.phases) finding.where.phase = base::joined(*input_.scope.phases);
    const TraceSpan span = span_of(input_.job->programs(), definitions_, input_.scope);
    finding.windows = {{base::seconds(span.from_ns), base::seconds(span.to_ns)}};
    finding.where.function = "(program)";
    finding.evidence = {{"load_balance", balance},
                        {"most_seconds", base::seconds(most)},
                        {"mean_seconds", base::seconds(program.mean())}};
    char percent[16];
    std::snprintf(percent, sizeof percent, "%.0f %%", 100 * balance);
    const std::string busiest = finding.culprits.empty()
                                    ? "the busiest rank"
                                    : "rank " + std::to_string(finding.culprits[0]);
    finding.summary = busiest + " computes for " + base::duration_text(base::seconds(most)) +
                      ", the mean rank for " + base::duration_text(base::seconds(program.mean())) +
                      ": a load balance of " + percent +
                      ". The others wait for it; findings about waits contain this time too";
    finding.advice =
        "give the busiest ranks a smaller part of the problem; if all parts are equal, see whether "
        "these ranks share a processor or its memory with more ranks than the others";
  }

  const Input& input_;
  const trace::Definitions& definitions_;
  const std::vector<std::uint32_t> processes_;
};

}  // namespace

std::vector<std::size_t> FunctionBalance::busiest() const {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  return order;
}

std::vector<std::size_t> FunctionBalance::top(std::size_t count) const {
  std::vector<std::size_t> order = busiest();
  order.resize(std::min(count, order.size()));
  std::erase_if(order, [&](std::size_t i) { return values[i] == 0; });
  return order;
}

std::vector<FunctionBalance> balance_of(const std::vector<CallRow>& rows,
                                        const std::vector<std::uint32_t>& processes,
                                        CallMetric metric) {
  std::map<std::uint32_t, FunctionBalance> functions;
  for (const CallRow& row : rows) {
    const auto at = std::lower_bound(processes.begin(), processes.end(), row.process);
    if (at == processes.end() || *at != row.process) continue;
    const std::uint64_t value = value_of(row, metric);
    FunctionBalance& function = functions[row.function];
    function.function = row.function;
    function.values.resize(processes.size());
    function.values[static_cast<std::size_t>(at - processes.begin())] += value;
    function.sum += value;
  }
  std::vector<FunctionBalance> all;
  for (auto& [number, function] : functions) {
    function.most = *std::max_element(function.values.begin(), function.values.end());
    function.least = *std::min_element(function.values.begin(), function.values.end());
    all.push_back(std::move(function));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.sum > b.sum; });
  return all;
}

base::Result<Outcome> load_imbalance(const Input& input) {
  const auto rows = call_rows(input);
  if (!rows) return rows.error();
  const KnownTime known = known_time(input.trace->definitions(), gaps_in(*rows));
  if (!known.computing || !known.ranks) {
    Outcome outcome;
    outcome.section.figure("not_given", known.not_given("load imbalance"));
    return outcome;
  }
  const ScopeFilter scope(input.scope, input.trace->definitions());
  std::vector<std::uint32_t> processes = scope.chosen();
  std::vector<FunctionBalance> functions = balance_of(*rows, processes);
  std::erase_if(functions, [&](const FunctionBalance& balance) {
    return balance.function != kProgram &&
           !is_between_init_and_finalize(input.trace->definitions(), balance.function);
  });
  Outcome outcome;
  ImbalanceFindings(input, processes).tell(functions, outcome);
  return outcome;
}

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/time/load_imbalance.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "analysis/scope/known_time.h"
#include "analysis/scope/scope_filter.h"
#include "analysis/time/flat_profile.h"
#include "base/order/sort_stably.h"
#include "base/seconds.h"

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

void lay_out(const std::vector<FunctionBalance>& functions,
             const std::vector<std::uint32_t>& processes, const trace::Definitions& definitions,
             Section& section) {
  using Function = const FunctionBalance&;
  Table& table = section.table("load_imbalance");
  add_column(table, "name", functions,
             [&](Function f) { return shown_function(definitions, f.function, true); });
  add_column(table, "imbalance", functions, [](Function f) { return f.imbalance(); });
  add_column(table, "mean_seconds", functions, [](Function f) { return base::seconds(f.mean()); });
  add_column(table, "most_seconds", functions, [](Function f) { return base::seconds(f.most); });
  add_column(table, "least_seconds", functions, [](Function f) { return base::seconds(f.least); });
  add_column(table, "lost_seconds", functions, [](Function f) { return base::seconds(f.lost()); });
  add_column(table, "top_ranks", functions, [&](Function f) {
    std::vector<std::int64_t> ranks;
    for (const std::size_t i : f.top(kTopRanks))
      ranks.push_back(definitions.processes[processes[i]].rank);
    return ranks;
  });
  for (const FunctionBalance& function : functions) {
    if (function.function == kProgram) section.figure("program_imbalance", function.imbalance());
  }
}

}  // namespace

std::vector<std::size_t> FunctionBalance::busiest() const {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  base::sort_stably(order, [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
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
  base::sort_stably(all, [](const auto& a, const auto& b) { return a.sum > b.sum; });
  return all;
}

base::Result<Outcome> load_imbalance(const Input& input) {
  const auto rows = call_rows(input);
  if (!rows) return rows.error();
  const KnownTime known = known_time(input.trace->definitions(), gaps_in(*rows));
  // With calls or ranks missing, the balance would be that of what was recorded.
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
  lay_out(functions, processes, input.trace->definitions(), outcome.section);
  return outcome;
}

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
// The tables of a comparison.
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "analysis/compare.h"

namespace fathom::analysis {
namespace {

using Numbers = std::vector<std::int64_t>;

Numbers column_of(const ComparedClass& row, std::uint64_t profile::Volume::*field) {
  Numbers numbers;
  for (const profile::Volume& volume : row.by_run)
    numbers.push_back(static_cast<std::int64_t>(volume.*field));
  return numbers;
}

double or_nan(const std::optional<double>& value) {
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

// The columns of a change, which `of` gives for a row. `unit` ends their names: "_seconds". Where
// runs are repeated, also the spread, and p.
template <typename Row, typename Of>
void add_change(Table& table, const std::string& unit, const std::vector<Row>& rows, Of of,
                const Sides& sides) {
  const auto add = [&](const std::string& name, auto value) {
    add_column(table, name, rows, [&](const Row& row) { return value(of(row)); });
  };
  add("first" + unit, [](const Change& change) { return change.first.median; });
  add("last" + unit, [](const Change& change) { return change.last.median; });
  add("growth", [](const Change& change) { return change.growth; });
  if (!sides.have_repeats()) return;
  add("first_least", [](const Change& change) { return change.first.least; });
  add("first_most", [](const Change& change) { return change.first.most; });
  add("last_least", [](const Change& change) { return change.last.least; });
  add("last_most", [](const Change& change) { return change.last.most; });
  add("p", [](const Change& change) { return change.p; });
}

template <typename Row>
void add_seconds(Table& table, const std::vector<Row>& rows, const Sides& sides) {
  add_change(
      table, "_seconds", rows, [](const Row& row) -> const Change& { return row.seconds; }, sides);
}

void lay_out_totals(const Comparison& comparison, Section& section) {
  Table& table = section.table("totals");
  const auto& rows = comparison.totals;
  add_column(table, "quantity", rows, [](const ComparedTotal& r) { return r.quantity; });
  add_change(
      table, "", rows, [](const ComparedTotal& r) -> const Change& { return r.value; },
      comparison.sides);
}

void lay_out_limits(const std::vector<CheckedLimit>& rows, const Sides& sides, Section& section) {
  Table& table = section.table("limits");
  add_column(table, "quantity", rows, [](const CheckedLimit& r) { return r.limit.quantity; });
  add_column(table, "percent", rows, [](const CheckedLimit& r) { return r.limit.percent; });
  add_column(table, "exceeded", rows,
             [](const CheckedLimit& r) { return std::int64_t{r.is_exceeded}; });
  add_change(
      table, "", rows, [](const CheckedLimit& r) -> const Change& { return r.value; }, sides);
}

std::string side_of(const ScalingRow& row, const Comparison& comparison) {
  const auto position = static_cast<std::size_t>(&row - comparison.runs.data());
  return position < comparison.sides.first ? "first" : "last";
}

void lay_out_runs(const Comparison& comparison, Section& section) {
  Table& table = section.table("runs");
  const auto& rows = comparison.runs;
  add_column(table, "run", rows, [](const ScalingRow& r) { return r.run.name; });
  if (comparison.sides.have_repeats())
    add_column(table, "side", rows, [&](const ScalingRow& r) { return side_of(r, comparison); });
  add_column(table, "ranks", rows, [](const ScalingRow& r) { return r.run.ranks; });
  add_column(table, "seconds", rows, [](const ScalingRow& r) { return r.run.seconds; });
  add_column(table, "speedup", rows, [](const ScalingRow& r) { return r.speedup; });
  add_column(table, "efficiency", rows, [](const ScalingRow& r) { return r.efficiency; });
  add_column(table, "weak_efficiency", rows, [](const ScalingRow& r) { return r.weak_efficiency; });
  add_column(table, "bytes", rows, [](const ScalingRow& r) { return r.run.all.bytes; });
  add_column(table, "messages", rows, [](const ScalingRow& r) { return r.run.all.messages; });
  add_column(table, "bytes_per_rank", rows, [](const ScalingRow& r) { return r.bytes_per_rank; });
  add_column(table, "messages_per_rank", rows,
             [](const ScalingRow& r) { return r.messages_per_rank; });
  add_column(table, "mean_bytes", rows, [](const ScalingRow& r) { return r.mean_bytes; });
  add_column(table, "peers", rows, [](const ScalingRow& r) { return r.run.peers; });
}

void lay_out_classes(const Comparison& comparison, Section& section) {
  Table& table = section.table("classes");
  const auto& rows = comparison.classes;
  add_column(table, "class", rows, [](const ComparedClass& r) { return r.class_name; });
  add_column(table, "hidden", rows, [](const ComparedClass& r) { return std::int64_t{r.hidden}; });
  add_column(table, "bytes", rows,
             [](const ComparedClass& r) { return column_of(r, &profile::Volume::bytes); });
  add_column(table, "messages", rows,
             [](const ComparedClass& r) { return column_of(r, &profile::Volume::messages); });
  add_column(table, "growth_bytes", rows, [](const ComparedClass& r) { return r.growth_bytes; });
  add_column(table, "growth_messages", rows,
             [](const ComparedClass& r) { return r.growth_messages; });
  add_column(table, "exponent_bytes", rows,
             [](const ComparedClass& r) { return or_nan(r.exponent_bytes); });
  add_column(table, "exponent_messages", rows,
             [](const ComparedClass& r) { return or_nan(r.exponent_messages); });
}

// One row per function and run (Pipit's multirun_analysis has one column per run instead), and the
// growth by function.
void lay_out_functions(const Comparison& comparison, Section& section) {
  Table& table = section.table("functions");
  const auto& rows = comparison.functions;
  add_column(table, "name", rows, [](const ComparedFunction& r) { return r.name; });
  add_seconds(table, rows, comparison.sides);
  add_column(table, "exponent", rows, [](const ComparedFunction& r) { return or_nan(r.exponent); });
  struct Of {
    const ScalingRow* run;
    const ComparedFunction* function;
    double seconds;
  };
  std::vector<Of> all;
  for (const ComparedFunction& row : rows) {
    for (std::size_t i = 0; i < row.seconds.by_run.size(); ++i)
      all.push_back({&comparison.runs[i], &row, row.seconds.by_run[i]});
  }
  Table& by_run = section.table("function_seconds");
  add_column(by_run, "run", all, [](const Of& of) { return of.run->run.name; });
  add_column(by_run, "ranks", all, [](const Of& of) { return of.run->run.ranks; });
  add_column(by_run, "name", all, [](const Of& of) { return of.function->name; });
  add_column(by_run, "seconds", all, [](const Of& of) { return of.seconds; });
}

void lay_out_pairs(const Comparison& comparison, Section& section) {
  Table& table = section.table("pairs");
  const auto& rows = comparison.pairs;
  add_column(table, "source", rows, [](const ComparedPair& r) { return r.source; });
  add_column(table, "destination", rows, [](const ComparedPair& r) { return r.destination; });
  add_column(table, "first_bytes", rows, [](const ComparedPair& r) { return r.first.bytes; });
  add_column(table, "last_bytes", rows, [](const ComparedPair& r) { return r.last.bytes; });
  add_column(table, "first_messages", rows, [](const ComparedPair& r) { return r.first.messages; });
  add_column(table, "last_messages", rows, [](const ComparedPair& r) { return r.last.messages; });
}

void lay_out_call_sites(const Comparison& comparison, Section& section) {
  Table& table = section.table("call_sites");
  const auto& rows = comparison.call_sites;
  add_column(table, "function", rows, [](const ComparedCallSite& r) { return r.function; });
  add_column(table, "place", rows, [](const ComparedCallSite& r) { return r.place; });
  add_column(table, "first_place", rows, [](const ComparedCallSite& r) { return r.first_place; });
  add_seconds(table, rows, comparison.sides);
}

void lay_out_phases(const Comparison& comparison, Section& section) {
  Table& table = section.table("phases");
  add_column(table, "phase", comparison.phases, [](const ComparedPhase& r) { return r.name; });
  add_seconds(table, comparison.phases, comparison.sides);
}

void lay_out_waits(const Comparison& comparison, Section& section) {
  Table& table = section.table("waits");
  const auto& rows = comparison.waits;
  add_column(table, "function", rows, [](const ComparedWait& r) { return r.function; });
  add_column(table, "place", rows, [](const ComparedWait& r) { return r.place; });
  add_column(table, "first_place", rows, [](const ComparedWait& r) { return r.first_place; });
  add_column(table, "rank", rows, [](const ComparedWait& r) { return r.rank; });
  add_column(table, "awaited", rows, [](const ComparedWait& r) { return r.awaited; });
  add_seconds(table, rows, comparison.sides);
}

void lay_out_path(const Comparison& comparison, Section& section) {
  Table& table = section.table("path");
  const auto& rows = comparison.path;
  add_column(table, "function", rows, [](const ComparedPathPart& r) { return r.function; });
  add_column(table, "place", rows, [](const ComparedPathPart& r) { return r.place; });
  add_column(table, "first_place", rows, [](const ComparedPathPart& r) { return r.first_place; });
  add_column(table, "program", rows,
             [](const ComparedPathPart& r) { return std::int64_t{r.program}; });
  add_column(table, "rank", rows, [](const ComparedPathPart& r) { return r.rank; });
  add_seconds(table, rows, comparison.sides);
}

}  // namespace

Section lay_out(const Comparison& comparison, const std::vector<CheckedLimit>& limits) {
  Section section;
  section.figure("exponent_seconds", or_nan(comparison.exponent_seconds));
  section.figure("exponent_bytes", or_nan(comparison.exponent_bytes));
  section.figure("exponent_messages", or_nan(comparison.exponent_messages));
  lay_out_runs(comparison, section);
  lay_out_totals(comparison, section);
  if (!limits.empty()) lay_out_limits(limits, comparison.sides, section);
  lay_out_classes(comparison, section);
  lay_out_pairs(comparison, section);
  if (!comparison.functions.empty()) lay_out_functions(comparison, section);
  if (!comparison.call_sites.empty()) lay_out_call_sites(comparison, section);
  if (!comparison.phases.empty()) lay_out_phases(comparison, section);
  if (!comparison.waits.empty()) lay_out_waits(comparison, section);
  if (!comparison.path.empty()) lay_out_path(comparison, section);
  return section;
}

}  // namespace fathom::analysis

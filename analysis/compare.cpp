// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "analysis/time/flat_profile.h"
#include "analysis/traffic/class_traffic.h"
#include "base/seconds.h"
#include "profile/call_summary.h"
#include "profile/pair_sums.h"
#include "trace/named_call_sites.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kMostPairs = 64;

double growth(double first, double last) {
  if (first > 0) return last / first;
  return last > 0 ? std::numeric_limits<double>::infinity() : 1;
}

// Slope of log(y) over log(x), because a power of the ranks is a straight line there. None unless
// two different x have a positive y.
std::optional<double> exponent_of(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] > 0 && y[i] > 0) points.push_back({std::log(x[i]), std::log(y[i])});
  }
  double mean_x = 0, mean_y = 0;
  for (const auto& [a, b] : points) {
    mean_x += a / static_cast<double>(points.size());
    mean_y += b / static_cast<double>(points.size());
  }
  double xx = 0, xy = 0;
  for (const auto& [a, b] : points) {
    xx += (a - mean_x) * (a - mean_x);
    xy += (a - mean_x) * (b - mean_y);
  }
  if (points.size() < 2 || xx < 1e-12) return {};
  return xy / xx;
}

ComparedRun describe(const profile::Profile& profile, const std::string& name) {
  ComparedRun run;
  run.name = name;
  run.ranks = profile::rank_count(profile);
  run.seconds = profile.application.seconds;
  const auto pairs = profile::sum_pairs(profile);
  run.all = profile::total(pairs);
  run.peers = profile::density(pairs, run.ranks) *
              static_cast<double>(std::max<std::int64_t>(run.ranks - 1, 0));
  return run;
}

ScalingRow scaling_of(const ComparedRun& run, const ComparedRun& base) {
  ScalingRow row;
  row.run = run;
  const auto ranks = static_cast<double>(std::max<std::int64_t>(run.ranks, 1));
  if (run.seconds > 0 && base.seconds > 0) {
    row.speedup = row.weak_efficiency = base.seconds / run.seconds;
    row.efficiency = row.speedup * static_cast<double>(base.ranks) / ranks;
  }
  row.bytes_per_rank = static_cast<double>(run.all.bytes) / ranks;
  row.messages_per_rank = static_cast<double>(run.all.messages) / ranks;
  if (run.all.messages > 0)
    row.mean_bytes = static_cast<double>(run.all.bytes) / static_cast<double>(run.all.messages);
  return row;
}

double change(const profile::Volume& first, const profile::Volume& last, bool bytes) {
  return bytes ? std::abs(static_cast<double>(last.bytes) - static_cast<double>(first.bytes))
               : std::abs(static_cast<double>(last.messages) - static_cast<double>(first.messages));
}

// Largest change in bytes first, then in messages.
template <typename T, typename First, typename Last>
void sort_by_change(std::vector<T>& rows, First first, Last last) {
  std::stable_sort(rows.begin(), rows.end(), [&](const T& a, const T& b) {
    const auto key = [&](const T& row) {
      return std::pair(change(first(row), last(row), true), change(first(row), last(row), false));
    };
    return key(a) > key(b);
  });
}

std::vector<double> of(const std::vector<profile::Volume>& volumes,
                       std::uint64_t profile::Volume::*field) {
  std::vector<double> values;
  for (const profile::Volume& volume : volumes)
    values.push_back(static_cast<double>(volume.*field));
  return values;
}

std::vector<ComparedClass> compare_classes(const std::vector<const profile::Profile*>& profiles,
                                           const std::vector<double>& ranks) {
  std::map<std::pair<std::string, bool>, ComparedClass> classes;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    for (const ClassTraffic& traffic : traffic_by_class(*profiles[i])) {
      ComparedClass& row = classes[{traffic.class_name, traffic.hidden}];
      row.class_name = traffic.class_name;
      row.hidden = traffic.hidden;
      row.by_run.resize(profiles.size());
      row.by_run[i] = {traffic.bytes, traffic.messages};
    }
  }
  std::vector<ComparedClass> list;
  for (auto& [key, row] : classes) {
    const auto bytes = of(row.by_run, &profile::Volume::bytes),
               messages = of(row.by_run, &profile::Volume::messages);
    row.growth_bytes = growth(bytes.front(), bytes.back());
    row.growth_messages = growth(messages.front(), messages.back());
    row.exponent_bytes = exponent_of(ranks, bytes);
    row.exponent_messages = exponent_of(ranks, messages);
    list.push_back(std::move(row));
  }
  sort_by_change(
      list, [](const ComparedClass& row) { return row.by_run.front(); },
      [](const ComparedClass& row) { return row.by_run.back(); });
  return list;
}

std::vector<ComparedPair> compare_pairs(const profile::Profile& first,
                                        const profile::Profile& last) {
  std::map<std::pair<std::int64_t, std::int64_t>, ComparedPair> pairs;
  const auto add = [&](const profile::Profile& profile, profile::Volume ComparedPair::*side) {
    for (const profile::PairCount& pair : profile::sum_pairs(profile)) {
      ComparedPair& row = pairs[{pair.source, pair.destination}];
      row.source = pair.source;
      row.destination = pair.destination;
      row.*side = {pair.bytes, pair.messages};
    }
  };
  add(first, &ComparedPair::first);
  add(last, &ComparedPair::last);
  std::vector<ComparedPair> list;
  for (const auto& [key, row] : pairs) {
    if (row.first.bytes != row.last.bytes || row.first.messages != row.last.messages)
      list.push_back(row);
  }
  sort_by_change(
      list, [](const ComparedPair& row) { return row.first; },
      [](const ComparedPair& row) { return row.last; });
  list.resize(std::min(list.size(), kMostPairs));
  return list;
}

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

void lay_out_runs(const Comparison& comparison, Section& section) {
  Table& table = section.table("runs");
  const auto& rows = comparison.runs;
  add_column(table, "run", rows, [](const ScalingRow& r) { return r.run.name; });
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
  add_column(table, "first_seconds", rows,
             [](const ComparedFunction& r) { return r.seconds_by_run.front(); });
  add_column(table, "last_seconds", rows,
             [](const ComparedFunction& r) { return r.seconds_by_run.back(); });
  add_column(table, "growth", rows, [](const ComparedFunction& r) { return r.growth; });
  add_column(table, "exponent", rows, [](const ComparedFunction& r) { return or_nan(r.exponent); });
  struct Of {
    const ScalingRow* run;
    const ComparedFunction* function;
    double seconds;
  };
  std::vector<Of> all;
  for (const ComparedFunction& row : rows) {
    for (std::size_t i = 0; i < row.seconds_by_run.size(); ++i)
      all.push_back({&comparison.runs[i], &row, row.seconds_by_run[i]});
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

// The columns that rows with seconds have in common.
template <typename Row>
void add_seconds(Table& table, const std::vector<Row>& rows) {
  add_column(table, "first_seconds", rows, [](const Row& r) { return r.seconds_by_run.front(); });
  add_column(table, "last_seconds", rows, [](const Row& r) { return r.seconds_by_run.back(); });
  add_column(table, "growth", rows, [](const Row& r) { return r.growth; });
}

void lay_out_call_sites(const Comparison& comparison, Section& section) {
  Table& table = section.table("call_sites");
  const auto& rows = comparison.call_sites;
  add_column(table, "function", rows, [](const ComparedCallSite& r) { return r.function; });
  add_column(table, "place", rows, [](const ComparedCallSite& r) { return r.place; });
  add_seconds(table, rows);
}

void lay_out_waits(const Comparison& comparison, Section& section) {
  Table& table = section.table("waits");
  const auto& rows = comparison.waits;
  add_column(table, "function", rows, [](const ComparedWait& r) { return r.function; });
  add_column(table, "place", rows, [](const ComparedWait& r) { return r.place; });
  add_column(table, "rank", rows, [](const ComparedWait& r) { return r.rank; });
  add_column(table, "awaited", rows, [](const ComparedWait& r) { return r.awaited; });
  add_seconds(table, rows);
}

void lay_out_path(const Comparison& comparison, Section& section) {
  Table& table = section.table("path");
  const auto& rows = comparison.path;
  add_column(table, "function", rows, [](const ComparedPathPart& r) { return r.function; });
  add_column(table, "place", rows, [](const ComparedPathPart& r) { return r.place; });
  add_column(table, "program", rows,
             [](const ComparedPathPart& r) { return std::int64_t{r.program}; });
  add_seconds(table, rows);
}

template <typename Row>
void largest_change_first(std::vector<Row>& rows) {
  const auto change = [](const Row& row) {
    return std::abs(row.seconds_by_run.back() - row.seconds_by_run.front());
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return change(a) > change(b); });
}

void add_functions(const std::map<std::string, std::vector<double>>& seconds,
                   const std::vector<double>& ranks, Comparison& comparison) {
  for (auto [name, by_run] : seconds) {
    by_run.resize(ranks.size());
    comparison.functions.push_back(
        {name, by_run, growth(by_run.front(), by_run.back()), exponent_of(ranks, by_run)});
  }
  largest_change_first(comparison.functions);
}

std::string place_of(const profile::Profile& profile, std::int64_t id) {
  const auto site = std::find_if(profile.call_sites.begin(), profile.call_sites.end(),
                                 [id](const profile::CallSite& known) { return known.id == id; });
  return site == profile.call_sites.end() ? "" : trace::describe(*site);
}

// Function, place, rank that waited, rank that it waited for.
using WaitKey = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;

void add_waits(const std::vector<const profile::Profile*>& profiles, Comparison& comparison) {
  std::map<WaitKey, std::vector<double>> seconds;
  for (std::size_t run = 0; run < profiles.size(); ++run) {
    for (const profile::CallWaits& block : profiles[run]->waits) {
      const std::string place = place_of(*profiles[run], block.site);
      for (std::size_t row = 0; row < block.rank.size(); ++row) {
        auto& by_run = seconds[{block.function, place, block.rank[row], block.awaited[row]}];
        by_run.resize(profiles.size());
        by_run[run] += base::seconds(block.total_ns[row]);
      }
    }
  }
  for (const auto& [key, by_run] : seconds) {
    const auto& [function, place, rank, awaited] = key;
    comparison.waits.push_back(
        {function, place, rank, awaited, by_run, growth(by_run.front(), by_run.back())});
  }
  largest_change_first(comparison.waits);
  comparison.waits.resize(std::min(comparison.waits.size(), kMostPairs));
}

const profile::CriticalPath* whole_path(const profile::Profile& profile) {
  const auto found =
      std::find_if(profile.path.begin(), profile.path.end(),
                   [](const profile::CriticalPath& path) { return path.window.empty(); });
  return found == profile.path.end() ? nullptr : &*found;
}

void add_paths(const std::vector<const profile::Profile*>& profiles, Comparison& comparison) {
  std::map<std::tuple<std::string, std::string, bool>, std::vector<double>> seconds;
  for (std::size_t run = 0; run < profiles.size(); ++run) {
    for (const profile::PathPart& part : whole_path(*profiles[run])->parts) {
      auto& by_run = seconds[{part.function, place_of(*profiles[run], part.site), part.program}];
      by_run.resize(profiles.size());
      for (const std::uint64_t ns : part.total_ns) by_run[run] += base::seconds(ns);
    }
  }
  for (const auto& [key, by_run] : seconds) {
    const auto& [function, place, program] = key;
    comparison.path.push_back(
        {function, place, program, by_run, growth(by_run.front(), by_run.back())});
  }
  largest_change_first(comparison.path);
}

}  // namespace

base::Result<Comparison> compare_profiles(const std::vector<const profile::Profile*>& profiles,
                                          const std::vector<std::string>& names) {
  if (profiles.size() < 2) return base::Error{"a comparison needs two runs or more"};
  Comparison comparison;
  std::vector<double> ranks, seconds, bytes, messages;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const ComparedRun run = describe(*profiles[i], names[i]);
    comparison.runs.push_back(scaling_of(run, i == 0 ? run : comparison.runs[0].run));
    ranks.push_back(static_cast<double>(run.ranks));
    seconds.push_back(run.seconds);
    bytes.push_back(static_cast<double>(run.all.bytes));
    messages.push_back(static_cast<double>(run.all.messages));
  }
  comparison.exponent_seconds = exponent_of(ranks, seconds);
  comparison.exponent_bytes = exponent_of(ranks, bytes);
  comparison.exponent_messages = exponent_of(ranks, messages);
  comparison.classes = compare_classes(profiles, ranks);
  if (std::count(ranks.begin(), ranks.end(), ranks[0]) == std::ssize(ranks)) {
    comparison.pairs = compare_pairs(*profiles.front(), *profiles.back());
  }
  return comparison;
}

void compare_calls(const std::vector<const profile::Profile*>& profiles, Comparison& comparison) {
  if (std::any_of(profiles.begin(), profiles.end(),
                  [](const profile::Profile* profile) { return profile->calls.empty(); }))
    return;
  std::map<std::string, std::vector<double>> functions;
  std::map<std::pair<std::string, std::string>, std::vector<double>> sites;
  std::vector<double> ranks;
  const auto add = [&](std::vector<double>& by_run, std::size_t run, double seconds) {
    by_run.resize(profiles.size());
    by_run[run] += seconds / ranks[run];
  };
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const profile::Profile& profile = *profiles[i];
    profile::CallSummary summary;
    for (const profile::CallTimes& block : profile.calls) summary.add(block);
    const auto times = summary.ranks(profile);
    ranks.push_back(static_cast<double>(std::max<std::size_t>(1, times.size())));
    for (const profile::RankTime& time : times)
      add(functions["(program)"], i, std::max(0.0, time.seconds - time.mpi_seconds));
    for (const auto& [name, sum] : summary.functions()) add(functions[name], i, sum.seconds);
    for (const profile::SiteTotal& total : summary.sites(profile)) {
      add(sites[{total.function, place_of(profile, total.site)}], i, total.sum.seconds);
    }
  }
  add_functions(functions, ranks, comparison);
  for (auto& [key, by_run] : sites) {
    by_run.resize(profiles.size());
    comparison.call_sites.push_back(
        {key.first, key.second, by_run, growth(by_run.front(), by_run.back())});
  }
  largest_change_first(comparison.call_sites);
}

void compare_waits(const std::vector<const profile::Profile*>& profiles, Comparison& comparison) {
  const auto all = [&](auto holds) {
    return std::all_of(profiles.begin(), profiles.end(),
                       [&](const profile::Profile* profile) { return holds(*profile); });
  };
  const auto ranks = profile::rank_count(*profiles.front());
  if (all([ranks](const profile::Profile& profile) {
        return profile.coverage.waits && profile::rank_count(profile) == ranks;
      }))
    add_waits(profiles, comparison);
  if (all([](const profile::Profile& profile) { return whole_path(profile) != nullptr; }))
    add_paths(profiles, comparison);
}

base::Status compare_times(const std::vector<Input>& runs, Comparison& comparison) {
  if (std::any_of(runs.begin(), runs.end(), [](const Input& run) { return run.trace == nullptr; }))
    return base::Done{};
  std::map<std::string, std::vector<double>> seconds;
  std::vector<double> ranks;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto rows = call_rows(runs[i]);
    if (!rows) return rows.error();
    const trace::Definitions& definitions = runs[i].trace->definitions();
    ranks.push_back(static_cast<double>(std::max<std::size_t>(1, definitions.processes.size())));
    for (const CallRow& row : *rows) {
      auto& by_run = seconds[row.function == kProgram ? "(program)"
                                                      : definitions.functions[row.function].name];
      by_run.resize(runs.size());
      by_run[i] += base::seconds(row.exclusive_ns) / ranks[i];
    }
  }
  comparison.functions.clear();
  add_functions(seconds, ranks, comparison);
  return base::Done{};
}

Section lay_out(const Comparison& comparison) {
  Section section;
  section.figure("exponent_seconds", or_nan(comparison.exponent_seconds));
  section.figure("exponent_bytes", or_nan(comparison.exponent_bytes));
  section.figure("exponent_messages", or_nan(comparison.exponent_messages));
  lay_out_runs(comparison, section);
  lay_out_classes(comparison, section);
  lay_out_pairs(comparison, section);
  if (!comparison.functions.empty()) lay_out_functions(comparison, section);
  if (!comparison.call_sites.empty()) lay_out_call_sites(comparison, section);
  if (!comparison.waits.empty()) lay_out_waits(comparison, section);
  if (!comparison.path.empty()) lay_out_path(comparison, section);
  return section;
}

}  // namespace fathom::analysis

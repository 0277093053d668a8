// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/path/profile_path.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/path/profile_metrics.h"
#include "base/order/sort_stably.h"
#include "base/seconds.h"
#include "base/text.h"
#include "trace/code/named_call_sites.h"

namespace fathom::analysis {
namespace {

// One row of a part.
struct PathStep {
  const profile::CriticalPath* path;
  const profile::PathPart* part;
  std::size_t row;
  const profile::CallSite* site;

  std::string name() const { return part->program ? "(program)" : part->function; }
  std::uint64_t ns() const { return part->total_ns[row]; }
};
using PathSteps = std::vector<PathStep>;

PathSteps steps_of(const profile::CriticalPath& path,
                   const std::map<std::int64_t, const profile::CallSite*>& sites) {
  PathSteps steps;
  for (const profile::PathPart& part : path.parts) {
    for (std::size_t row = 0; row < part.rank.size(); ++row)
      steps.push_back({&path, &part, row, sites.at(part.site)});
  }
  return steps;
}

// Seconds and shares by `of(step)`, most first.
template <typename Of>
void table_by(const char* name, const char* key, const profile::CriticalPath& path,
              const PathSteps& steps, Of of, Section& section) {
  std::map<decltype(of(steps.front())), std::uint64_t> sums;
  for (const PathStep& step : steps) sums[of(step)] += step.ns();
  std::vector<std::pair<decltype(of(steps.front())), std::uint64_t>> rows(sums.begin(), sums.end());
  base::sort_stably(rows, [](const auto& a, const auto& b) { return a.second > b.second; });
  Table& table = section.table(name);
  add_column(table, key, rows, [](const auto& row) { return row.first; });
  add_column(table, "seconds", rows, [](const auto& row) { return base::seconds(row.second); });
  add_column(table, "share", rows, [&](const auto& row) {
    return path.elapsed_ns > 0
               ? static_cast<double>(row.second) / static_cast<double>(path.elapsed_ns)
               : 0.0;
  });
}

void add_steps(const PathSteps& steps, Table& table) {
  using Row = const PathStep&;
  add_column(table, "rank", steps, [](Row step) { return step.part->rank[step.row]; });
  add_column(table, "name", steps, [](Row step) { return step.name(); });
  add_column(table, "file", steps, [](Row step) { return trace::file_or_module(*step.site); });
  add_column(table, "line", steps, [](Row step) { return step.site->line; });
  add_column(table, "phase", steps, [](Row step) { return step.part->phase; });
  add_column(table, "communicator", steps, [](Row step) { return step.part->communicator; });
  add_column(table, "seconds", steps, [](Row step) { return base::seconds(step.ns()); });
  add_column(table, "count", steps, [](Row step) { return step.part->stretches[step.row]; });
  // For the program: the call after the work. Its file and line are those of that call.
  add_column(table, "leads_to", steps,
             [](Row step) { return step.part->program ? step.part->function : ""; });
}

// A window, or the run, and one of its metrics or routines.
struct MetricRow {
  const profile::CriticalPath* path;
  const ProfileMetrics* metrics;
  std::size_t number;
};
using MetricRows = std::vector<MetricRow>;

void add_metrics(const MetricRows& rows, Table& table) {
  using Row = const MetricRow&;
  add_column(table, "metric", rows,
             [](Row row) { return std::string(name_of(kProfileMetrics[row.number])); });
  add_column(table, "critical_path", rows, [](Row row) { return row.metrics->path[row.number]; });
  add_column(table, "most_of_a_rank", rows, [](Row row) { return row.metrics->most[row.number]; });
  add_column(table, "sum", rows, [](Row row) { return row.metrics->sum[row.number]; });
  add_column(table, "mean", rows, [](Row row) {
    return row.metrics->sum[row.number] /
           static_cast<double>(std::max<std::size_t>(1, row.metrics->ranks));
  });
}

template <typename Of>
void add_routines(const MetricRows& rows, Of of, Table& table) {
  add_column(table, "routine", rows, [](const MetricRow& row) {
    return std::string(name_of(static_cast<Routine>(row.number)));
  });
  for (std::size_t metric = 0; metric < kProfileMetrics.size(); ++metric) {
    add_column(table, name_of(kProfileMetrics[metric]), rows,
               [&](const MetricRow& row) { return of(*row.metrics)[row.number][metric]; });
  }
}
const auto& on_path(const ProfileMetrics& metrics) { return metrics.path_by_routine; }
const auto& in_sum(const ProfileMetrics& metrics) { return metrics.sum_by_routine; }

MetricRows metric_rows(const profile::CriticalPath& path, const ProfileMetrics& metrics) {
  MetricRows rows;
  for (std::size_t metric = 0; metric < kProfileMetrics.size(); ++metric)
    rows.push_back({&path, &metrics, metric});
  return rows;
}

// Those of which there is anything.
MetricRows routine_rows(const profile::CriticalPath& path, const ProfileMetrics& metrics) {
  MetricRows rows;
  for (std::size_t routine = 0; routine < kRoutines; ++routine) {
    const auto& sums = metrics.sum_by_routine[routine];
    const auto& parts = metrics.path_by_routine[routine];
    // Most programs use few of the routines, and rows of zeros would hide these.
    const auto is_zero = [](double value) { return value == 0; };
    if (std::all_of(sums.begin(), sums.end(), is_zero) &&
        std::all_of(parts.begin(), parts.end(), is_zero))
      continue;
    rows.push_back({&path, &metrics, routine});
  }
  return rows;
}

void lay_out(const profile::CriticalPath& path, const ProfileMetrics& metrics, Section& section) {
  if (!metrics.knows_path) return;
  add_metrics(metric_rows(path, metrics), section.table("metrics"));
  section.figure("idle_seconds", metrics.sum_idle_s);
  section.figure("most_idle_seconds", metrics.most_idle_s);
  const MetricRows routines = routine_rows(path, metrics);
  add_routines(routines, on_path, section.table("path_metrics_by_routine"));
  add_routines(routines, in_sum, section.table("sums_by_routine"));
}

void lay_out(const profile::CriticalPath& path, const PathSteps& steps, Section& section) {
  section.figure("path_seconds", base::seconds(path.elapsed_ns));
  section.figure("changes_of_rank", path.jumps);
  section.figure("error_seconds", base::seconds(path.error_ns));
  table_by(
      "path_by_rank", "rank", path, steps,
      [](const PathStep& step) { return step.part->rank[step.row]; }, section);
  table_by(
      "path_by_function", "name", path, steps, [](const PathStep& step) { return step.name(); },
      section);
  table_by(
      "path_by_communicator", "communicator", path, steps,
      [](const PathStep& step) {
        return step.part->program ? profile::kNone : step.part->communicator;
      },
      section);
  add_steps(steps, section.table("path"));
}

std::map<std::int64_t, const profile::CallSite*> sites_of(const profile::Profile& profile) {
  std::map<std::int64_t, const profile::CallSite*> sites;
  for (const profile::CallSite& site : profile.call_sites) sites[site.id] = &site;
  return sites;
}

// What holds for the metrics of any window.
void add_limits(const ProfileMetrics& metrics, std::vector<std::string>& limits) {
  const std::string limit =
      "bytes and messages of persistent requests are missing from the metrics, because the profile "
      "does not say which were started";
  if (metrics.has_persistent && std::find(limits.begin(), limits.end(), limit) == limits.end())
    limits.push_back(limit);
}

}  // namespace

void add_windows(const profile::Profile& profile, Outcome& outcome) {
  const auto sites = sites_of(profile);
  std::vector<const profile::CriticalPath*> windows;
  for (const profile::CriticalPath& path : profile.path)
    if (!path.window.empty()) windows.push_back(&path);
  if (windows.empty()) return;
  PathSteps steps;
  std::vector<ProfileMetrics> metrics;
  metrics.reserve(windows.size());  // rows point to them
  MetricRows totals, routines;
  for (const profile::CriticalPath* path : windows) {
    const PathSteps own = steps_of(*path, sites);
    steps.insert(steps.end(), own.begin(), own.end());
    metrics.push_back(metrics_of(profile, *path));
    add_limits(metrics.back(), outcome.limits);
    if (!metrics.back().knows_path || path->ranks.rank.empty()) continue;
    for (const MetricRow& row : metric_rows(*path, metrics.back())) totals.push_back(row);
    for (const MetricRow& row : routine_rows(*path, metrics.back())) routines.push_back(row);
  }
  Section& section = outcome.section;
  Table& table = section.table("windows");
  using Path = const profile::CriticalPath*;
  add_column(table, "window", windows, [](Path path) { return path->window; });
  add_column(table, "openings", windows, [](Path path) { return path->openings; });
  add_column(table, "seconds", windows, [](Path path) { return base::seconds(path->elapsed_ns); });
  add_column(table, "changes_of_rank", windows, [](Path path) { return path->jumps; });
  add_column(table, "error_seconds", windows,
             [](Path path) { return base::seconds(path->error_ns); });
  add_column(table, "idle_seconds", metrics,
             [](const ProfileMetrics& one) { return one.sum_idle_s; });
  add_column(table, "most_idle_seconds", metrics,
             [](const ProfileMetrics& one) { return one.most_idle_s; });
  Table& parts = section.table("window_path");
  add_column(parts, "window", steps, [](const PathStep& step) { return step.path->window; });
  add_steps(steps, parts);
  if (totals.empty()) return;
  const auto window = [](const MetricRow& row) { return row.path->window; };
  Table& all = section.table("window_metrics");
  add_column(all, "window", totals, window);
  add_metrics(totals, all);
  Table& on_paths = section.table("window_metrics_by_routine");
  add_column(on_paths, "window", routines, window);
  add_routines(routines, on_path, on_paths);
  Table& sums = section.table("window_sums_by_routine");
  add_column(sums, "window", routines, window);
  add_routines(routines, in_sum, sums);
}

base::Result<Outcome> critical_path_of_profile(const Input& input) {
  const auto sites = sites_of(*input.profile);
  Outcome outcome;
  for (const profile::CriticalPath& path : input.profile->path) {
    if (!path.window.empty()) continue;
    lay_out(path, steps_of(path, sites), outcome.section);
    const ProfileMetrics metrics = metrics_of(*input.profile, path);
    lay_out(path, metrics, outcome.section);
    add_limits(metrics, outcome.limits);
    if (path.error_ns > 0) {
      outcome.limits.push_back("up to " + base::duration_text(base::seconds(path.error_ns)) +
                               " of the critical path may be waiting in calls that were left out");
    }
  }
  add_windows(*input.profile, outcome);
  if (input.scope.ranks || input.scope.phases) {
    outcome.limits.push_back(
        "the critical path is that of the whole job, not only of the chosen part");
  }
  outcome.limits.push_back(
      "the critical path was found without a trace: the slack of calls, the order of its parts, "
      "and "
      "critter's metrics along paths of their own need a trace (fathom run --trace)");
  return outcome;
}

}  // namespace fathom::analysis

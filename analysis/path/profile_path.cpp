// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/path/profile_path.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/seconds.h"
#include "base/text.h"

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
using Steps = std::vector<PathStep>;

Steps steps_of(const profile::CriticalPath& path,
               const std::map<std::int64_t, const profile::CallSite*>& sites) {
  Steps steps;
  for (const profile::PathPart& part : path.parts) {
    for (std::size_t row = 0; row < part.rank.size(); ++row)
      steps.push_back({&path, &part, row, sites.at(part.site)});
  }
  return steps;
}

// Seconds and shares by `of(step)`, most first.
template <typename Of>
void table_by(const char* name, const char* key, const profile::CriticalPath& path,
              const Steps& steps, Of of, Section& section) {
  std::map<decltype(of(steps.front())), std::uint64_t> sums;
  for (const PathStep& step : steps) sums[of(step)] += step.ns();
  std::vector<std::pair<decltype(of(steps.front())), std::uint64_t>> rows(sums.begin(), sums.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  Table& table = section.table(name);
  add_column(table, key, rows, [](const auto& row) { return row.first; });
  add_column(table, "seconds", rows, [](const auto& row) { return base::seconds(row.second); });
  add_column(table, "share", rows, [&](const auto& row) {
    return path.elapsed_ns > 0
               ? static_cast<double>(row.second) / static_cast<double>(path.elapsed_ns)
               : 0.0;
  });
}

void add_steps(const Steps& steps, Table& table) {
  using Row = const PathStep&;
  add_column(table, "rank", steps, [](Row step) { return step.part->rank[step.row]; });
  add_column(table, "name", steps, [](Row step) { return step.name(); });
  add_column(table, "file", steps, [](Row step) { return step.site->file; });
  add_column(table, "line", steps, [](Row step) { return step.site->line; });
  add_column(table, "phase", steps, [](Row step) { return step.part->phase; });
  add_column(table, "communicator", steps, [](Row step) { return step.part->communicator; });
  add_column(table, "seconds", steps, [](Row step) { return base::seconds(step.ns()); });
  add_column(table, "count", steps, [](Row step) { return step.part->stretches[step.row]; });
  // For the program: the call after the work. Its file and line are those of that call.
  add_column(table, "leads_to", steps,
             [](Row step) { return step.part->program ? step.part->function : ""; });
}

void lay_out(const profile::CriticalPath& path, const Steps& steps, Section& section) {
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

void lay_out_windows(const std::vector<const profile::CriticalPath*>& windows, const Steps& steps,
                     Section& section) {
  if (windows.empty()) return;
  Table& table = section.table("windows");
  using Row = const profile::CriticalPath*;
  add_column(table, "window", windows, [](Row path) { return path->window; });
  add_column(table, "seconds", windows, [](Row path) { return base::seconds(path->elapsed_ns); });
  add_column(table, "changes_of_rank", windows, [](Row path) { return path->jumps; });
  add_column(table, "error_seconds", windows,
             [](Row path) { return base::seconds(path->error_ns); });
  Table& parts = section.table("window_path");
  add_column(parts, "window", steps, [](const PathStep& step) { return step.path->window; });
  add_steps(steps, parts);
}

}  // namespace

base::Result<Outcome> critical_path_of_profile(const Input& input) {
  std::map<std::int64_t, const profile::CallSite*> sites;
  for (const profile::CallSite& site : input.profile->call_sites) sites[site.id] = &site;
  Outcome outcome;
  std::vector<const profile::CriticalPath*> windows;
  Steps in_windows;
  for (const profile::CriticalPath& path : input.profile->path) {
    const Steps steps = steps_of(path, sites);
    if (path.window.empty()) {
      lay_out(path, steps, outcome.section);
      if (path.error_ns > 0) {
        outcome.limits.push_back(
            "up to " + base::duration_text(base::seconds(path.error_ns)) +
            " of the critical path may be waiting, in calls that were left out");
      }
      continue;
    }
    windows.push_back(&path);
    in_windows.insert(in_windows.end(), steps.begin(), steps.end());
  }
  lay_out_windows(windows, in_windows, outcome.section);
  if (input.scope.ranks || input.scope.phases) {
    outcome.limits.push_back(
        "the critical path is that of the whole job, not only of the chosen part");
  }
  outcome.limits.push_back(
      "the critical path was found without a trace: the slack of calls, critter's metrics and the "
      "order of its parts need a trace (fathom run --trace)");
  return outcome;
}

}  // namespace fathom::analysis

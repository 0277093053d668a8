// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/critical_path.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/path/critical_path.h"
#include "analysis/path/path_metrics.h"
#include "analysis/path/profile_metrics.h"
#include "analysis/results/finding.h"
#include "analysis/results_writer.h"
#include "analysis/run.h"
#include "base/order/sort_stably.h"
#include "base/seconds.h"
#include "cli/language/command_line.h"
#include "cli/language/result_output.h"
#include "cli/runs/named_run.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/text_table.h"
#include "cli/terminal/units.h"
#include "trace/code/call_site_names.h"
#include "trace/code/named_call_sites.h"

namespace fathom::cli {
namespace {

using analysis::PathMetric;

constexpr std::size_t kPlacesShown = 8;

std::string title(const std::string& what, std::uint64_t whole_ns, std::uint64_t changes) {
  return fmt::format("{}: {:.6f} s, {} change{} of rank\n", what, base::seconds(whole_ns),
                     grouped(changes), changes == 1 ? "" : "s");
}

std::string share_lines(std::map<std::string, std::uint64_t> shares, std::uint64_t whole_ns) {
  constexpr std::size_t kShown = 8;
  std::vector<std::pair<std::string, std::uint64_t>> order(shares.begin(), shares.end());
  base::sort_stably(order, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, order.size()); ++i) {
    text +=
        fmt::format("  {} {:>12.6f} s {:>8}\n", left(printable(order[i].first), 28),
                    base::seconds(order[i].second),
                    percent(static_cast<double>(order[i].second), static_cast<double>(whole_ns)));
  }
  if (order.size() > kShown) text += fmt::format("  and {} more\n", order.size() - kShown);
  return text;
}

std::string called(trace::CallSiteNames& names, const trace::Definitions& definitions,
                   std::uint32_t process, std::uint32_t function, std::uint64_t address) {
  if (function == analysis::kNobody) return "the end";
  const trace::CodeSite& site = names.of_call(process, address);
  return analysis::text_of(analysis::CallPlace{definitions.functions[function].name, site.function,
                                               trace::file_or_module(site), site.line});
}

// Where the path spends most time: rank and place in the program.
std::string places_text(const analysis::CriticalPath& path, const trace::Definitions& definitions) {
  std::vector<const analysis::PathRow*> order;
  for (const analysis::PathRow& row : path.rows) order.push_back(&row);
  base::sort_stably(order, [](const auto* a, const auto* b) { return a->ns > b->ns; });
  trace::CallSiteNames names(definitions);
  std::string text = "\nlongest on the path\n";
  for (std::size_t i = 0; i < std::min(kPlacesShown, order.size()); ++i) {
    const analysis::PathRow& row = *order[i];
    const std::string place =
        row.function != analysis::kNobody
            ? "in " + called(names, definitions, row.process, row.function, row.site)
            : fmt::format("computing between {} and {}",
                          called(names, definitions, row.process, row.follows, row.follows_site),
                          called(names, definitions, row.process, row.leads_to, row.site));
    text += fmt::format(
        "  {:>12.6f} s {:>8}  rank {} {}, {}\n", base::seconds(row.ns),
        percent(static_cast<double>(row.ns), static_cast<double>(path.end_ns - path.begin_ns)),
        definitions.processes[row.process].rank, printable(place), times(row.count));
  }
  return text;
}

std::string path_text(const analysis::CriticalPath& path, const trace::Definitions& definitions) {
  const std::uint64_t whole_ns = path.end_ns - path.begin_ns;
  std::map<std::string, std::uint64_t> ranks, functions;
  for (const analysis::PathRow& row : path.rows) {
    ranks[fmt::format("rank {}", definitions.processes[row.process].rank)] += row.ns;
    functions[row.function == analysis::kNobody ? "(program)"
                                                : definitions.functions[row.function].name] +=
        row.ns;
  }
  return title("critical path", whole_ns, path.changes) + share_lines(ranks, whole_ns) + "\n" +
         share_lines(functions, whole_ns) + places_text(path, definitions);
}

std::string number(PathMetric metric, double shown) {
  if (metric > PathMetric::kBspSynchronisation) return fmt::format("{:.6f}", shown);
  if (shown != std::floor(shown)) return fmt::format("{:.2f}", shown);
  return grouped(static_cast<std::uint64_t>(shown));
}

std::string number(PathMetric metric, std::uint64_t value) {
  return number(metric, analysis::shown(metric, value));
}

// Below a table of routines.
std::string routines_note(const Terminal& terminal) {
  return folded(
      "a routine includes its variants: MPI_Wait also MPI_Waitall and the like, MPI_Send also "
      "MPI_Ssend and the like\n",
      terminal.width(), 0);
}

std::string metrics_text(const analysis::PathMetrics& metrics, const Terminal& terminal) {
  TextTable table;
  table.column("each on its own path", TextTable::Align::kLeft);
  for (const char* title : {"critical path", "most of a rank", "sum"}) table.column(title);
  for (std::size_t i = 0; i < analysis::kPathMetrics; ++i) {
    const auto metric = static_cast<PathMetric>(i);
    table.row({std::string(name_of(metric)), number(metric, metrics.path[i]),
               number(metric, metrics.most[i]), number(metric, metrics.sum[i])});
  }
  table.row({"idle_s", "", fmt::format("{:.6f}", base::seconds(metrics.most_idle_ns)),
             fmt::format("{:.6f}", base::seconds(metrics.sum_idle_ns))});
  return "\n" + table.text(terminal, "--json has them all");
}

// As many of the routines as fit into a terminal.
struct Shown {
  PathMetric metric;
  const char* title;
};
constexpr Shown kShown[] = {{PathMetric::kBytes, "bytes"},
                            {PathMetric::kMessages, "messages"},
                            {PathMetric::kCommunication, "est. comm."},
                            {PathMetric::kSynchronisation, "est. sync."},
                            {PathMetric::kRunTime, "run_s"}};

std::string routines_text(const analysis::PathMetrics& metrics, const Terminal& terminal) {
  TextTable table;
  table.column("on these paths", TextTable::Align::kLeft);
  for (const Shown& column : kShown) table.column(column.title);
  for (std::size_t routine = 0; routine < analysis::kRoutines; ++routine) {
    const auto& values = metrics.path_by_routine[routine];
    if (std::all_of(values.begin(), values.end(), [](std::uint64_t value) { return value == 0; }))
      continue;
    std::vector<std::string> cells = {
        std::string(name_of(static_cast<analysis::Routine>(routine)))};
    for (const auto& [metric, title] : kShown)
      cells.push_back(number(metric, values[static_cast<std::size_t>(metric)]));
    table.row(cells);
  }
  return "\n" + table.text(terminal, "--json has them all") + routines_note(terminal);
}

// The same tables without a trace.
std::string metrics_text(const analysis::ProfileMetrics& metrics, const Terminal& terminal) {
  if (!metrics.knows_path || metrics.ranks == 0) return "";
  TextTable table;
  table.column("critter's metrics", TextTable::Align::kLeft);
  for (const char* title : {"critical path", "most of a rank", "sum"}) table.column(title);
  for (std::size_t i = 0; i < analysis::kProfileMetrics.size(); ++i) {
    const PathMetric metric = analysis::kProfileMetrics[i];
    table.row({std::string(name_of(metric)), number(metric, metrics.path[i]),
               number(metric, metrics.most[i]), number(metric, metrics.sum[i])});
  }
  table.row({"idle_s", "", fmt::format("{:.6f}", metrics.most_idle_s),
             fmt::format("{:.6f}", metrics.sum_idle_s)});
  return "\n" + table.text(terminal, "--json has them all");
}

std::string routines_text(const analysis::ProfileMetrics& metrics, const Terminal& terminal) {
  if (!metrics.knows_path || metrics.ranks == 0) return "";
  TextTable table;
  table.column("on the path", TextTable::Align::kLeft);
  for (const Shown& column : kShown) table.column(column.title);
  for (std::size_t routine = 0; routine < analysis::kRoutines; ++routine) {
    const analysis::ProfileCosts& values = metrics.path_by_routine[routine];
    if (std::all_of(values.begin(), values.end(), [](double value) { return value == 0; }))
      continue;
    std::vector<std::string> cells = {
        std::string(name_of(static_cast<analysis::Routine>(routine)))};
    for (const auto& [metric, title] : kShown) {
      const auto place =
          std::find(analysis::kProfileMetrics.begin(), analysis::kProfileMetrics.end(), metric);
      cells.push_back(number(
          metric, values[static_cast<std::size_t>(place - analysis::kProfileMetrics.begin())]));
    }
    table.row(cells);
  }
  return "\n" + table.text(terminal, "--json has them all");
}

std::string called(const profile::Profile& profile, const profile::PathPart& part) {
  const auto site =
      std::find_if(profile.call_sites.begin(), profile.call_sites.end(),
                   [&](const profile::CallSite& known) { return known.id == part.site; });
  return analysis::text_of(analysis::CallPlace{
      part.function, site->function, trace::file_or_module(*site), static_cast<int>(site->line)});
}

// The same page for a run without a trace, or for a window of it.
std::string path_text(const profile::CriticalPath& path, const profile::Profile& profile) {
  std::map<std::string, std::uint64_t> ranks, functions;
  struct Place {
    std::uint64_t ns, count;
    std::string text;
  };
  std::vector<Place> places;
  for (const profile::PathPart& part : path.parts) {
    const std::string place = (part.program ? "computing before " : "in ") + called(profile, part);
    for (std::size_t row = 0; row < part.rank.size(); ++row) {
      const std::uint64_t ns = part.total_ns[row];
      const std::string rank = fmt::format("rank {}", part.rank[row]);
      ranks[rank] += ns;
      functions[part.program ? "(program)" : part.function] += ns;
      places.push_back({ns, part.stretches[row], rank + " " + place});
    }
  }
  base::sort_stably(places, [](const Place& a, const Place& b) { return a.ns > b.ns; });
  std::string what =
      path.window.empty() ? "critical path" : "critical path of " + printable(path.window);
  if (path.openings > 1) what += ", opened " + times(path.openings);
  std::string text = title(what, path.elapsed_ns, path.jumps) +
                     share_lines(ranks, path.elapsed_ns) + "\n" +
                     share_lines(functions, path.elapsed_ns) + "\nlongest on the path\n";
  for (std::size_t i = 0; i < std::min(kPlacesShown, places.size()); ++i) {
    text += fmt::format(
        "  {:>12.6f} s {:>8}  {}, {}\n", base::seconds(places[i].ns),
        percent(static_cast<double>(places[i].ns), static_cast<double>(path.elapsed_ns)),
        printable(places[i].text), times(places[i].count));
  }
  return text;
}

std::string windows_text(const profile::Profile& profile, bool of_run, const Terminal& terminal) {
  std::string text;
  for (const profile::CriticalPath& path : profile.path) {
    if (path.window.empty() && !of_run) continue;
    const analysis::ProfileMetrics metrics = analysis::metrics_of(profile, path);
    text += (text.empty() ? "" : "\n") + folded(path_text(path, profile), terminal.width(), 27) +
            metrics_text(metrics, terminal) + routines_text(metrics, terminal);
  }
  return text;
}

std::string path_text(const profile::Profile& profile, const std::vector<std::string>& limits,
                      const Terminal& terminal) {
  std::string text = windows_text(profile, true, terminal) + routines_note(terminal);
  for (const std::string& limit : limits)
    text += "\n" + folded("note: " + limit + "\n", terminal.width(), 2);
  for (const std::string& note : profile.coverage.notes)
    text += "\n" + folded("note: " + printable(note) + "\n", terminal.width(), 2);
  return text;
}

struct CriticalPathOptions {
  std::string run;
  ResultOutput output;
};

int critical_path(const CriticalPathOptions& options) {
  if (const auto checked = check(options.output); !checked)
    return fail(kWrongUsage, "critical-path", checked.error().message);
  const auto run = load_named_run(options.run, {});
  if (!run) return fail(kFailed, "critical-path", run.error().message);
  const analysis::Input input = run->input({});
  const auto row = analysis::find_analysis("critical-path");
  if (!analysis::can_run(**row, input))
    return fail(kFailed, "critical-path", analysis::what_is_missing(**row, input));
  if (options.output.wants_json() || !run->job) {
    const auto outcome = analysis::critical_path(input);
    if (!outcome) return fail(kFailed, "critical-path", outcome.error().message);
    const std::string text =
        options.output.wants_json()
            ? analysis::section_text(outcome->section, analysis::kCriticalPathSchema)
            : path_text(*run->profile, outcome->limits, Terminal::of(options.output.path));
    return deliver(options.output, "critical-path", text);
  }
  auto joined = run->job->joined();
  if (!joined) return fail(kFailed, "critical-path", joined.error().message);
  const auto path_pass = analysis::critical_path_pass(**joined);
  const auto metrics_pass = analysis::path_metrics_pass(**joined);
  // The two passes are independent, so they share the rounds and the exchanges.
  analysis::run_passes((*joined)->transport(), {path_pass.pass.get(), metrics_pass.pass.get()});
  const analysis::CriticalPath path = path_pass.result();
  const analysis::PathMetrics metrics = metrics_pass.result();
  const Terminal terminal = Terminal::of(options.output.path);
  const std::string windows =
      run->profile ? windows_text(*run->profile, false, terminal) : std::string();
  const std::string text =
      folded(path_text(path, run->trace->definitions()), terminal.width(), 27) +
      metrics_text(metrics, terminal) + routines_text(metrics, terminal) +
      (windows.empty() ? "" : "\n" + windows);
  return deliver(options.output, "critical-path", text);
}

}  // namespace

Action declare_critical_path(CLI::App& app) {
  auto options = std::make_shared<CriticalPathOptions>();
  app.add_option("RUN", options->run, "run directory or profile.json")->type_name("")->required();
  add_result_output(app, options->output);
  return [options] { return critical_path(*options); };
}

}  // namespace fathom::cli

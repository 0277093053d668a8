// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/compare.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "analysis/compare.h"
#include "analysis/results_writer.h"
#include "cli/language/command_line.h"
#include "cli/language/result_output.h"
#include "cli/runs/named_call_sites.h"
#include "cli/runs/named_run.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/units.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kRowsShown = 12;
constexpr std::size_t kNameColumns = 16,
                      kMostNameColumns = 36;  // of a run; the table is then 120 columns wide

struct CompareOptions {
  std::vector<std::string> runs;
  ResultOutput output;
};

double as_double(std::uint64_t count) { return static_cast<double>(count); }

std::string ratio(double value) {
  return std::isfinite(value) ? fmt::format("{:.3g}", value) : "new";
}

std::string exponent(const std::optional<double>& value) {
  return value ? fmt::format("ranks^{:.2f}", *value) : "";
}

std::string heading(const Terminal& terminal, const std::string& text) {
  return terminal.styled(Style::kHeading, text) + "\n";
}

std::size_t name_columns(const analysis::Comparison& comparison) {
  std::size_t width = kNameColumns;
  for (const analysis::ScalingRow& row : comparison.runs)
    width = std::max(width, columns(printable(row.run.name)));
  return std::min(width, kMostNameColumns);
}

// A name too long for its column gets its own line.
std::string name_field(const std::string& name, std::size_t width) {
  return columns(name) > width ? name + "\n" + left("", width) : left(name, width);
}

// Says which efficiency the table shows, and the other one if the numbers of ranks differ.
std::string efficiency_note(const analysis::Comparison& comparison) {
  const analysis::ScalingRow& base = comparison.runs.front();
  std::string weak;
  for (const analysis::ScalingRow& row : comparison.runs) {
    if (row.run.ranks == base.run.ranks || row.weak_efficiency <= 0) continue;
    weak += fmt::format("{}{:.3g} at {} ranks", weak.empty() ? "" : ", ", row.weak_efficiency,
                        row.run.ranks);
  }
  if (weak.empty()) return "";
  return "efficiency assumes strong scaling: the same problem at every size\n"
         "if the problem grew with the ranks (weak scaling), it is " +
         weak + "\n";
}

std::string scaling_table(const analysis::Comparison& comparison, const Terminal& terminal) {
  const std::size_t width = name_columns(comparison);
  std::string text =
      heading(terminal, fmt::format("{} {:>8} {:>9} {:>8} {:>10} {:>10} {:>12} {:>11} {:>7}",
                                    left("run", width), "ranks", "seconds", "speedup", "efficiency",
                                    "bytes", "messages", "bytes/rank", "peers"));
  for (const analysis::ScalingRow& row : comparison.runs) {
    const bool timed = row.run.seconds > 0;
    text += fmt::format("{} {:>8} {:>9} {:>8} {:>10} {:>10} {:>12} {:>11} {:>7.1f}\n",
                        name_field(printable(row.run.name), width), row.run.ranks,
                        timed ? fmt::format("{:.4g}", row.run.seconds) : "-",
                        row.speedup > 0 ? fmt::format("{:.3g}", row.speedup) : "-",
                        row.efficiency > 0 ? fmt::format("{:.3g}", row.efficiency) : "-",
                        human_bytes(as_double(row.run.all.bytes)), grouped(row.run.all.messages),
                        human_bytes(row.bytes_per_rank), row.run.peers);
  }
  return text + efficiency_note(comparison);
}

std::string class_table(const analysis::Comparison& comparison, const Terminal& terminal) {
  std::string text =
      "\n" + heading(terminal, fmt::format("{} {:>10} {:>10} {:>7} {:>13} {:>13} {:>7} {:>11}",
                                           left("class", 22), "bytes", "then", "growth", "messages",
                                           "then", "growth", "bytes as"));
  const std::size_t shown = std::min(kRowsShown, comparison.classes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analysis::ComparedClass& row = comparison.classes[i];
    text += fmt::format("{} {:>10} {:>10} {:>7} {:>13} {:>13} {:>7} {:>11}\n",
                        left(printable(row.class_name) + (row.hidden ? " (hidden)" : ""), 22),
                        human_bytes(as_double(row.by_run.front().bytes)),
                        human_bytes(as_double(row.by_run.back().bytes)), ratio(row.growth_bytes),
                        grouped(row.by_run.front().messages), grouped(row.by_run.back().messages),
                        ratio(row.growth_messages), exponent(row.exponent_bytes));
  }
  if (shown < comparison.classes.size())
    text += fmt::format("and {} more: --json\n", comparison.classes.size() - shown);
  return text;
}

std::string pair_table(const analysis::Comparison& comparison, const Terminal& terminal) {
  if (comparison.pairs.empty()) return "";
  std::string text = "\n" + heading(terminal, fmt::format("{} {:>10} {:>10} {:>13} {:>13}",
                                                          left("pairs that changed most", 26),
                                                          "bytes", "then", "messages", "then"));
  for (std::size_t i = 0; i < std::min<std::size_t>(kRowsShown, comparison.pairs.size()); ++i) {
    const analysis::ComparedPair& row = comparison.pairs[i];
    text +=
        fmt::format("{} {:>10} {:>10} {:>13} {:>13}\n",
                    left(terminal.text(fmt::format("{} → {}", row.source, row.destination)), 26),
                    human_bytes(as_double(row.first.bytes)), human_bytes(as_double(row.last.bytes)),
                    grouped(row.first.messages), grouped(row.last.messages));
  }
  return text;
}

std::string function_table(const analysis::Comparison& comparison, const Terminal& terminal) {
  if (comparison.functions.empty()) return "";
  std::string text = "\n" + heading(terminal, fmt::format("{} {:>12} {:>12} {:>7} {:>11}",
                                                          left("time of the mean rank", 28),
                                                          "seconds", "then", "growth", "as"));
  const std::size_t shown = std::min(kRowsShown, comparison.functions.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analysis::ComparedFunction& row = comparison.functions[i];
    text += fmt::format("{} {:>12.6f} {:>12.6f} {:>7} {:>11}\n", left(printable(row.name), 28),
                        row.seconds_by_run.front(), row.seconds_by_run.back(), ratio(row.growth),
                        exponent(row.exponent));
  }
  if (shown < comparison.functions.size())
    text += fmt::format("and {} more: --json\n", comparison.functions.size() - shown);
  return text;
}

std::string call_site_table(const analysis::Comparison& comparison, const Terminal& terminal) {
  if (comparison.call_sites.empty()) return "";
  std::string text = "\n" + heading(terminal, fmt::format("{} {:>12} {:>12} {:>7}",
                                                          left("call sites that changed most", 56),
                                                          "seconds", "then", "growth"));
  const std::size_t shown = std::min(kRowsShown, comparison.call_sites.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analysis::ComparedCallSite& row = comparison.call_sites[i];
    text += fmt::format("{} {:>12.6f} {:>12.6f} {:>7}\n",
                        left(printable(row.function + " in " + row.place), 56),
                        row.seconds_by_run.front(), row.seconds_by_run.back(), ratio(row.growth));
  }
  if (shown < comparison.call_sites.size())
    text += fmt::format("and {} more: --json\n", comparison.call_sites.size() - shown);
  return text;
}

std::string comparison_text(const analysis::Comparison& comparison, const Terminal& terminal) {
  std::string text = scaling_table(comparison, terminal);
  if (comparison.exponent_bytes) {
    text += fmt::format(
        "bytes grow as {}, messages as {}{}\n", exponent(comparison.exponent_bytes),
        exponent(comparison.exponent_messages),
        comparison.exponent_seconds ? ", seconds as " + exponent(comparison.exponent_seconds) : "");
  }
  text += function_table(comparison, terminal) + call_site_table(comparison, terminal) +
          class_table(comparison, terminal) + pair_table(comparison, terminal);
  const bool same = std::all_of(
      comparison.classes.begin(), comparison.classes.end(),
      [](const auto& row) { return row.growth_bytes == 1 && row.growth_messages == 1; });
  return same && comparison.pairs.empty() ? text + "\nnothing grew: the traffic is the same\n"
                                          : text;
}

int compare(const CompareOptions& options) {
  if (options.runs.size() < 2)
    return fail(kWrongUsage, "compare", "name two runs or more; see fathom compare --help");
  if (const auto checked = check(options.output); !checked)
    return fail(kWrongUsage, "compare", checked.error().message);
  std::vector<analysis::LoadedRun> runs;
  std::vector<const profile::Profile*> profiles;
  for (const std::string& name : options.runs) {
    auto run = load_named_run(name, {});
    if (!run) return fail(kFailed, "compare", run.error().message);
    runs.push_back(std::move(*run));
  }
  // Only now, because a growing `runs` moves its profiles.
  for (analysis::LoadedRun& run : runs) {
    name_call_sites(run.profile->call_sites);
    profiles.push_back(&*run.profile);
  }
  auto comparison = analysis::compare_profiles(profiles, options.runs);
  if (!comparison) return fail(kFailed, "compare", comparison.error().message);
  analysis::compare_calls(profiles, *comparison);
  std::vector<analysis::Input> inputs;
  for (const analysis::LoadedRun& run : runs) inputs.push_back(run.input({}));
  if (const auto timed = analysis::compare_times(inputs, *comparison); !timed)
    return fail(kFailed, "compare", timed.error().message);
  if (options.output.wants_json()) {
    return deliver(
        options.output, "compare",
        analysis::section_text(analysis::lay_out(*comparison), analysis::kComparisonSchema));
  }
  const Terminal terminal = Terminal::of(options.output.path);
  return deliver(options.output, "compare", comparison_text(*comparison, terminal));
}

}  // namespace

Action declare_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  app.add_option("RUN", options->runs, "two or more run directories or profiles, the base first")
      ->type_name("");
  add_result_output(app, options->output);
  return [options] { return compare(*options); };
}

}  // namespace fathom::cli

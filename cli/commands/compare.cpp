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
#include "cli/runs/named_run.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/text_table.h"
#include "cli/terminal/units.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kRowsShown = 12;
constexpr char kRest[] = "--json has them all";

struct CompareOptions {
  std::vector<std::string> runs;
  ResultOutput output;
};

double real(std::uint64_t count) { return static_cast<double>(count); }

std::string ratio(double value) {
  return std::isfinite(value) ? fmt::format("{:.3g}", value) : "new";
}

std::string exponent(const std::optional<double>& value) {
  return value ? fmt::format("ranks^{:.2f}", *value) : "";
}

TextTable table_of(const std::string& first, const std::vector<const char*>& numbers) {
  TextTable table;
  table.column(first, TextTable::Align::kLeft);
  for (const char* title : numbers) table.column(title);
  return table;
}

std::string and_more(std::size_t shown, std::size_t all) {
  return shown < all ? fmt::format("and {} more: --json\n", all - shown) : "";
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
  TextTable table = table_of("run", {"ranks", "seconds", "speedup", "efficiency", "bytes",
                                     "messages", "bytes/rank", "peers"});
  for (const analysis::ScalingRow& row : comparison.runs) {
    const bool timed = row.run.seconds > 0;
    table.row({printable(row.run.name), std::to_string(row.run.ranks),
               timed ? fmt::format("{:.4g}", row.run.seconds) : "-",
               row.speedup > 0 ? fmt::format("{:.3g}", row.speedup) : "-",
               row.efficiency > 0 ? fmt::format("{:.3g}", row.efficiency) : "-",
               human_bytes(real(row.run.all.bytes)), grouped(row.run.all.messages),
               human_bytes(row.bytes_per_rank), fmt::format("{:.1f}", row.run.peers)});
  }
  return table.text(terminal, kRest) + folded(efficiency_note(comparison), terminal.width(), 0);
}

std::string class_table(const analysis::Comparison& comparison, const Terminal& terminal) {
  TextTable table =
      table_of("class", {"bytes", "then", "growth", "bytes as", "messages", "then", "growth"});
  const std::size_t shown = std::min(kRowsShown, comparison.classes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analysis::ComparedClass& row = comparison.classes[i];
    table.row({printable(row.class_name) + (row.hidden ? " (hidden)" : ""),
               human_bytes(real(row.by_run.front().bytes)),
               human_bytes(real(row.by_run.back().bytes)), ratio(row.growth_bytes),
               exponent(row.exponent_bytes), grouped(row.by_run.front().messages),
               grouped(row.by_run.back().messages), ratio(row.growth_messages)});
  }
  return "\n" + table.text(terminal, kRest) + and_more(shown, comparison.classes.size());
}

std::string pair_table(const analysis::Comparison& comparison, const Terminal& terminal) {
  if (comparison.pairs.empty()) return "";
  TextTable table = table_of("pairs that changed most", {"bytes", "then", "messages", "then"});
  for (std::size_t i = 0; i < std::min<std::size_t>(kRowsShown, comparison.pairs.size()); ++i) {
    const analysis::ComparedPair& row = comparison.pairs[i];
    table.row({terminal.text(fmt::format("{} → {}", row.source, row.destination)),
               human_bytes(real(row.first.bytes)), human_bytes(real(row.last.bytes)),
               grouped(row.first.messages), grouped(row.last.messages)});
  }
  return "\n" + table.text(terminal, kRest);
}

std::string function_table(const analysis::Comparison& comparison, const Terminal& terminal) {
  if (comparison.functions.empty()) return "";
  TextTable table = table_of("time of the mean rank", {"seconds", "then", "growth", "as"});
  const std::size_t shown = std::min(kRowsShown, comparison.functions.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analysis::ComparedFunction& row = comparison.functions[i];
    table.row({printable(row.name), fmt::format("{:.6f}", row.seconds_by_run.front()),
               fmt::format("{:.6f}", row.seconds_by_run.back()), ratio(row.growth),
               exponent(row.exponent)});
  }
  return "\n" + table.text(terminal, kRest) + and_more(shown, comparison.functions.size());
}

std::string called(const std::string& function, const std::string& place) {
  return place.empty() ? function : function + " in " + place;
}

std::string call_site_table(const analysis::Comparison& comparison, const Terminal& terminal) {
  if (comparison.call_sites.empty()) return "";
  TextTable table = table_of("call sites that changed most", {"seconds", "then", "growth"});
  const std::size_t shown = std::min(kRowsShown, comparison.call_sites.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analysis::ComparedCallSite& row = comparison.call_sites[i];
    table.row({printable(called(row.function, row.place)),
               fmt::format("{:.6f}", row.seconds_by_run.front()),
               fmt::format("{:.6f}", row.seconds_by_run.back()), ratio(row.growth)});
  }
  return "\n" + table.text(terminal, kRest) + and_more(shown, comparison.call_sites.size());
}

// "800 ms more in MPI_Wait in exchange (halo.c:88), rank 5 waits for rank 4"; nothing about changes
// that are small beside the run.
template <typename Row, typename Text>
std::string changes_text(const std::string& title, const std::vector<Row>& rows,
                         const analysis::Comparison& comparison, const Terminal& terminal,
                         Text text_of) {
  constexpr std::size_t kShown = 5;
  constexpr double kLeastShare = 0.005;
  double longest = 0;
  for (const analysis::ScalingRow& row : comparison.runs)
    longest = std::max(longest, row.run.seconds);
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, rows.size()); ++i) {
    const double change = rows[i].seconds_by_run.back() - rows[i].seconds_by_run.front();
    if (std::abs(change) < kLeastShare * longest || change == 0) break;
    text += folded(fmt::format("  {} {} {}\n", human_seconds(std::abs(change)),
                               change > 0 ? "more" : "less", printable(text_of(rows[i]))),
                   terminal.width(), 4);
  }
  return text.empty() ? "" : "\n" + terminal.styled(Style::kHeading, title) + "\n" + text;
}

std::string wait_changes(const analysis::Comparison& comparison, const Terminal& terminal) {
  return changes_text("waits that changed most", comparison.waits, comparison, terminal,
                      [](const analysis::ComparedWait& row) {
                        return fmt::format("in {}, rank {} waits for rank {}",
                                           called(row.function, row.place), row.rank, row.awaited);
                      });
}

std::string path_changes(const analysis::Comparison& comparison, const Terminal& terminal) {
  return changes_text("parts of the critical path that changed most", comparison.path, comparison,
                      terminal, [](const analysis::ComparedPathPart& row) {
                        return (row.program ? "of computing before " : "in ") +
                               called(row.function, row.place);
                      });
}

std::string comparison_text(const analysis::Comparison& comparison, const Terminal& terminal) {
  std::string text = scaling_table(comparison, terminal);
  if (comparison.exponent_bytes) {
    text += folded(
        fmt::format("bytes grow as {}, messages as {}{}\n", exponent(comparison.exponent_bytes),
                    exponent(comparison.exponent_messages),
                    comparison.exponent_seconds
                        ? ", seconds as " + exponent(comparison.exponent_seconds)
                        : ""),
        terminal.width(), 0);
  }
  const std::string changes =
      wait_changes(comparison, terminal) + path_changes(comparison, terminal);
  text += function_table(comparison, terminal) + call_site_table(comparison, terminal) + changes +
          class_table(comparison, terminal) + pair_table(comparison, terminal);
  const bool same = std::all_of(
      comparison.classes.begin(), comparison.classes.end(),
      [](const auto& row) { return row.growth_bytes == 1 && row.growth_messages == 1; });
  if (!same || !comparison.pairs.empty()) return text;
  return text + (changes.empty() ? "\nnothing grew: the traffic is the same\n"
                                 : "\nthe traffic is the same\n");
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
  for (const analysis::LoadedRun& run : runs) profiles.push_back(&*run.profile);
  auto comparison = analysis::compare_profiles(profiles, options.runs);
  if (!comparison) return fail(kFailed, "compare", comparison.error().message);
  analysis::compare_calls(profiles, *comparison);
  analysis::compare_waits(profiles, *comparison);
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

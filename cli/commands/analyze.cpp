// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/analyze.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/results/finding_kinds.h"
#include "analysis/results_writer.h"
#include "analysis/run.h"
#include "cli/language/command_line.h"
#include "cli/language/options.h"
#include "cli/language/traffic_selection.h"
#include "cli/launch/parallel.h"
#include "cli/pages/analysis_page.h"
#include "cli/runs/named_run.h"
#include "cli/terminal/units.h"
#include "profile/wait_summary.h"

namespace fathom::cli {
namespace {

struct AnalyzeOptions {
  std::string run, output;
  Window window;
  std::optional<std::set<std::int64_t>> ranks;
  std::vector<std::string> only, thresholds;
  std::vector<analysis::SupposedChange> changes;
  profile::SelectedNames traffic;
  std::size_t top = 6;
  bool json = false;
  bool list = false;
  bool one_process = false;
};

using Rows = std::vector<const analysis::Row*>;

int list_analyses() {
  for (const analysis::Row& row : analysis::all_analyses()) {
    std::printf("  %-22s %s%s%s\n", row.name, row.help,
                row.needs == analysis::Needs::kTrace     ? "; needs a trace"
                : row.needs == analysis::Needs::kProfile ? ""
                                                         : "; needs a trace or times of calls",
                row.by_default ? "" : "; only when named");
  }
  std::printf("\nkinds of findings\n");
  for (const analysis::FindingKindRow& row : analysis::kFindingKinds)
    std::printf("  %-26s %-14s  %s\n", row.name, row.analysis, row.meaning);
  std::printf("\nthresholds (--set NAME=VALUE)\n");
  for (const analysis::ThresholdRow& row : analysis::threshold_rows()) {
    std::printf("  %-30s %10g  %s\n", row.name, analysis::Thresholds{}.*row.member, row.help);
  }
  return kFine;
}

base::Result<Rows> named_rows(const std::vector<std::string>& names) {
  Rows rows;
  for (const std::string& name : names) {
    const auto row = analysis::find_analysis(name);
    if (!row) return row.error();
    rows.push_back(*row);
  }
  return rows;
}

base::Result<analysis::Scope> scope_of(const AnalyzeOptions& options) {
  if (const auto checked = check(options.window); !checked) return checked.error();
  analysis::Scope scope;
  scope.ranks = options.ranks;
  scope.from_ns = options.window.from_ns.value_or(scope.from_ns);
  scope.to_ns = options.window.to_ns.value_or(scope.to_ns);
  if (!options.traffic.phases.empty()) scope.phases = options.traffic.phases;
  scope.classes = options.traffic.classes;
  scope.communicators = options.traffic.communicators;
  return scope;
}

// Where the results are written; empty: nowhere. A part of the run never replaces the whole.
std::string output_path(const AnalyzeOptions& options, const analysis::Scope& scope) {
  if (!options.output.empty()) return options.output;
  if (!scope.whole()) return "";
  std::error_code ignored;
  const std::filesystem::path run(options.run);
  return (std::filesystem::is_directory(run, ignored) ? run : run.parent_path()) / "analysis.json";
}

int show(const analysis::Results& results, const AnalyzeOptions& options,
         const analysis::LoadedRun& run, bool kept) {
  if (options.json) {
    return analysis::print_results(results, stdout)
               ? kFine
               : fail(kFailed, "analyze", "cannot write to stdout; is the disk full?");
  }
  std::string text =
      analyze_text(results, options.top, Terminal::of_stdout(), kept, !options.only.empty());
  if (!kept)
    text +=
        "\n   this is a part of the run and was not written to RUN/analysis.json; use -o FILE to "
        "keep it\n";
  if (run.trace == nullptr) {
    text += std::string("\n   a trace (fathom run --trace) would add ") +
            (run.profile->coverage.waits
                 ? "what caused the waits in the end, and where time went over the run\n"
                 : "who waited for whom, where and how long\n");
    const std::string why = profile::why_no_waits(run.profile->coverage);
    if (!run.profile->coverage.waits && !run.profile->calls.empty() && !why.empty())
      text += "   without one, waits and the critical path are not known: " + printable(why) + "\n";
  }
  text = folded(text, Terminal::of_stdout().width(), 3);
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? kFine : fail(kFailed, "analyze", "cannot write to stdout; is the disk full?");
}

// A bad request is bad at every process; only one reports it.
int refuse(int exit_code, const std::string& sentence) {
  return is_first_process() ? fail(exit_code, "analyze", sentence) : exit_code;
}

// Without its trace if classes or communicators are chosen: analyses of time cannot choose by them.
analysis::Input input_of(const analysis::LoadedRun& run, const analysis::Thresholds& thresholds,
                         const std::vector<analysis::SupposedChange>& changes) {
  analysis::Input input = run.input(thresholds);
  input.changes = changes;
  if (!input.scope.chooses_traffic()) return input;
  input.trace = nullptr;
  input.job = nullptr;
  input.calls = nullptr;
  return input;
}

// Runs at one process of several, or alone. Only the first prints and writes.
int analyze_part(const AnalyzeOptions& options, analysis::Transport* transport) {
  auto rows = named_rows(options.only);
  if (!rows) return refuse(kWrongUsage, rows.error().message);
  const auto scope = scope_of(options);
  if (!scope) return refuse(kWrongUsage, scope.error().message);
  analysis::Thresholds thresholds;
  for (const std::string& assignment : options.thresholds) {
    const auto set = analysis::set_threshold(thresholds, assignment);
    if (!set) return refuse(kWrongUsage, set.error().message);
  }
  const auto run = load_named_run(options.run, *scope, transport);
  if (!run) return refuse(kFailed, run.error().message);
  const analysis::Input input = input_of(*run, thresholds, options.changes);
  if (rows->empty()) *rows = analysis::default_analyses(input);
  for (const analysis::Row* row : *rows) {
    if (analysis::can_run(*row, input)) continue;
    if (scope->chooses_traffic())
      return refuse(kWrongUsage,
                    fmt::format("analysis '{}' is about times, but --classes and --communicators "
                                "choose traffic; leave them out, or choose an analysis of traffic",
                                row->name));
    return refuse(kFailed, analysis::what_is_missing(*row, input));
  }
  const bool first = transport == nullptr || transport->rank() == 0;
  if (!first)
    std::erase_if(*rows, [&](const analysis::Row* row) {
      return input.trace == nullptr || row->needs == analysis::Needs::kProfile;
    });
  const auto results = analysis::run_analyses(*rows, input);
  if (!results) return fail(kFailed, "analyze", results.error().message);
  if (!first) return kFine;
  const std::string path = output_path(options, *scope);
  if (!path.empty()) {
    const bool adds = !options.only.empty() && options.output.empty();
    const auto written =
        adds ? analysis::update_results(*results, path) : analysis::write_results(*results, path);
    if (!written) return fail(kFailed, "analyze", written.error().message);
  }
  return show(*results, options, *run, !path.empty());
}

// Without --only, nothing else is asked for.
void add_changes(CLI::App& app, const std::shared_ptr<AnalyzeOptions>& options) {
  const auto take = [options](const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      auto change = analysis::parse_supposed_change(word);
      if (!change) throw CLI::ValidationError("--what-if", change.error().message);
      options->changes.push_back(std::move(*change));
    }
  };
  app.add_option_function<std::vector<std::string>>(
         "--what-if", take,
         "the run time that would have been if some times were multiplied by FACTOR: 'rank 3 : "
         "0.8', 'function MPI_Bcast : 0.5', 'before site halo.c:41 : 0', 'latency : 2'; may be "
         "given several times; needs a trace")
      ->type_name("CHANGE")
      ->allow_extra_args(false);
}

int analyze(AnalyzeOptions& options) {
  auto& only = options.only;
  if (!options.changes.empty() && std::find(only.begin(), only.end(), "what-if") == only.end())
    only.emplace_back("what-if");
  if (options.list) return list_analyses();
  if (options.run.empty()) return refuse(kWrongUsage, "name the run; see fathom analyze --help");
  if (options.one_process) return is_first_process() ? analyze_part(options, nullptr) : kFine;
  auto transport = start_transport();
  if (!transport) return refuse(kFailed, transport.error().message);
  const int exit_code = analyze_part(options, transport->get());
  // Without MPI_Finalize the launcher ends the other processes too.
  if (exit_code != kFine) static_cast<void>(transport->release());
  return exit_code;
}

}  // namespace

Action declare_analyze(CLI::App& app) {
  auto options = std::make_shared<AnalyzeOptions>();
  app.add_option("RUN", options->run, "run directory or profile.json")->type_name("");
  add_list(app, "--only", options->only, "NAME,...",
           "run these analyses alone and show their tables (see --list)");
  add_window(app, options->window, "; needs a trace");
  add_ranks(app, options->ranks, "only traffic and calls of these world ranks: 0-3,7");
  add_traffic_options(app, options->traffic);
  add_changes(app, options);
  add_list(app, "--set", options->thresholds, "NAME=VALUE,...", "change thresholds (see --list)");
  app.add_option("--top", options->top, "number of findings to show")
      ->type_name("N")
      ->check(between(1, 1'000'000))
      ->capture_default_str();
  app.add_option(
         "-o,--output", options->output,
         "write the results to FILE, as JSON (default: RUN/analysis.json, where --only replaces "
         "the results of these analyses and keeps the others; results for a part of the run are "
         "written only if this is given)")
      ->type_name("FILE");
  app.add_flag("--json", options->json, "print the results as JSON, for programs");
  app.add_flag("--list", options->list, "list the analyses and the thresholds, and exit");
  app.add_flag("--one-process", options->one_process,
               "under mpirun: do all the work in one process");
  return [options] { return analyze(*options); };
}

}  // namespace fathom::cli

// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/report.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/language/command_line.h"
#include "cli/language/options.h"
#include "cli/language/result_output.h"
#include "cli/language/shell_words.h"
#include "cli/language/traffic_selection.h"
#include "cli/pages/report_json.h"
#include "cli/pages/report_page.h"
#include "cli/pages/run_summary.h"
#include "cli/runs/run_directory.h"
#include "cli/runs/run_state.h"

namespace fathom::cli {
namespace {

struct ReportOptions {
  std::string run;
  profile::SelectedNames traffic;
  std::size_t top = 5;
  bool all = false;
  ResultOutput output;
};

// Empty if `run` is a profile.json.
std::vector<OtherJob> other_jobs_of(const std::string& run) {
  const RunDirectory directory = RunDirectory::existing(run);
  std::vector<std::string> folders = directory.further_jobs();
  for (const std::string& world : directory.spawned_worlds()) folders.push_back(world);
  std::vector<OtherJob> jobs;
  for (const std::string& folder : folders) {
    jobs.push_back(other_job(folder, std::filesystem::path(folder).filename()));
    jobs.back().command_word = shell_word(folder);
    if (!jobs.back().state.empty() && state_of(folder).progress == Progress::kRunning)
      jobs.back().state = "still running";
  }
  return jobs;
}

base::Result<RunSummary> summary_of(const ReportOptions& options) {
  const auto path = profile_of(options.run);
  if (!path) return path.error();
  const auto selection = selection_in(*path, options.traffic);
  if (!selection) return selection.error();
  auto summary = summarise(*path, *selection, options.top);
  if (!summary) return summary.error();
  summary->chosen = described(options.traffic);
  summary->other_jobs = other_jobs_of(options.run);
  return summary;
}

int report(const ReportOptions& options) {
  if (const auto checked = check(options.output); !checked)
    return fail(kWrongUsage, "report", checked.error().message);
  const auto summary = summary_of(options);
  if (!summary) return fail(kFailed, "report", summary.error().message);
  const RunState state = state_of(options.run);
  // Not a failure: a command may start several jobs, and its first one has its profile already.
  if (state.progress == Progress::kRunning)
    fail(kFine, "report", "the command is " + sentence_of(state) + "; this is its first job");
  const std::string text =
      options.output.wants_json()
          ? report_json(*summary)
          : report_text(*summary, Terminal::of(options.output.path), options.all);
  return deliver(options.output, "report", text);
}

}  // namespace

base::Result<std::string> report_document(const std::string& run) {
  ReportOptions options;
  options.run = run;
  const auto summary = summary_of(options);
  if (!summary) return summary.error();
  return report_json(*summary);
}

Action declare_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("RUN", options->run, "run directory or profile.json")->required()->type_name("");
  add_traffic_options(app, options->traffic);
  app.add_option("--top", options->top, "number of pairs and ranks to list")
      ->type_name("N")
      ->check(between(1, 1'000'000))
      ->capture_default_str();
  app.add_flag(
      "--all", options->all,
      "if calls were timed: also tables of classes, phases, message sizes, pairs and ranks, "
      "more call sites, and notes on how this was measured");
  add_result_output(app, options->output);
  return [options] { return report(*options); };
}

}  // namespace fathom::cli

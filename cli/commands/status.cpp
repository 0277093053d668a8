// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/status.h"

#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/json/writer.h"
#include "cli/language/command_line.h"
#include "cli/language/result_output.h"
#include "cli/language/shell_words.h"
#include "cli/runs/recorded_so_far.h"
#include "cli/runs/run_directory.h"
#include "cli/runs/run_state.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/units.h"

namespace fathom::cli {
namespace {

struct StatusOptions {
  std::string run;
  ResultOutput output;
};

struct ShownJob {
  std::string folder;
  RunState state;
  RecordedSoFar recorded;
};

constexpr std::size_t kLabel = 11;

std::string line(const std::string& label, const std::string& text) {
  return left(label, kLabel) + " " + printable(text) + "\n";
}

std::string next_step(const ShownJob& job) {
  const std::string run = shell_word(job.folder);
  if (job.state.progress == Progress::kRunning) return "";
  if (job.recorded.profile || job.recorded.partial > 0) return "fathom report " + run;
  return job.recorded.traced > 0 ? "fathom analyze " + run : "";
}

std::string text_of(const std::vector<ShownJob>& jobs, const Terminal& terminal) {
  std::string text;
  for (const ShownJob& job : jobs) {
    if (!text.empty()) text += "\n";
    text += line(&job == &jobs.front() ? "run" : "further job", job.folder);
    text += line("state", sentence_of(job.state));
    if (!job.state.command.empty()) text += line("command", job.state.command);
    if (!job.state.what.empty()) text += line("records", job.state.what);
    text += line("so far", described(job.recorded));
    if (const std::string next = next_step(job); !next.empty()) text += line("next", next);
  }
  return folded(text, terminal.width(), kLabel + 1);
}

std::string json_of(const std::vector<ShownJob>& jobs) {
  return base::json_text(base::kReadableIndent,
                         [&](base::JsonWriter& json) {
                           json.field("schema", "fathom-status/1");
                           json.objects("jobs", jobs, [&](const ShownJob& job) {
                             json.field("run", job.folder);
                             json.field("state", name_of(job.state.progress));
                             json.field("process", job.state.process);
                             json.field("since_unix_s", job.state.since_s);
                             json.field("command", job.state.command);
                             json.field("records", job.state.what);
                             json.field("profile", job.recorded.profile);
                             json.field("partial_processes", job.recorded.partial);
                             json.field("traced_processes", job.recorded.traced);
                             json.field("trace_bytes", job.recorded.trace_bytes);
                           });
                         }) +
         "\n";
}

int status(const StatusOptions& options) {
  if (const auto checked = check(options.output); !checked)
    return fail(kWrongUsage, "status", checked.error().message);
  // A folder is required, because only there do jobs leave marks; a profile.json has none.
  std::error_code failed;
  if (!std::filesystem::is_directory(options.run, failed))
    return fail(kFailed, "status",
                "there is no run '" + options.run + "'; name a run directory of fathom run");
  std::vector<ShownJob> jobs;
  const RunDirectory run = RunDirectory::existing(options.run);
  std::vector<std::string> folders = run.further_jobs();
  for (const std::string& world : run.spawned_worlds()) folders.push_back(world);
  folders.insert(folders.begin(), options.run);
  for (const std::string& folder : folders)
    jobs.push_back({folder, state_of(folder), recorded_so_far(folder)});
  return deliver(options.output, "status",
                 options.output.wants_json() ? json_of(jobs)
                                             : text_of(jobs, Terminal::of(options.output.path)));
}

}  // namespace

Action declare_status(CLI::App& app) {
  auto options = std::make_shared<StatusOptions>();
  app.add_option("RUN", options->run, "run directory")->required()->type_name("");
  add_result_output(app, options->output);
  return [options] { return status(*options); };
}

}  // namespace fathom::cli

// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/plot.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/language/command_line.h"
#include "cli/language/options.h"
#include "cli/launch/installation.h"
#include "cli/launch/job.h"
#include "cli/launch/mpi_probe.h"
#include "cli/runs/run_directory.h"

namespace fathom::cli {
namespace {

struct PlotOptions {
  std::string run;
  std::string directory;
  std::string class_name;
  std::string format = "png";
  bool hidden = false;
  bool user = false;
  bool linear = false;
  Window window;
};

// A simulation's results.json, or a run's profile; the trace is in its folder.
base::Result<std::string> what_to_draw(const std::string& run) {
  std::error_code failed;
  const std::string results = run + "/results.json";
  if (std::filesystem::exists(results, failed)) return results;
  if (std::filesystem::path(run).filename() == "results.json") return run;
  auto profile = profile_of(run);
  if (!profile && std::filesystem::exists(run + "/trace", failed))
    return run + "/profile.json";  // only the trace exists
  return profile;
}

int plot(const PlotOptions& options) {
  if (const auto checked = check(options.window); !checked)
    return fail(kWrongUsage, "plot", checked.error().message);
  const auto profile = what_to_draw(options.run);
  if (!profile) return fail(kFailed, "plot", profile.error().message);
  const auto script = find_plot_script();
  if (!script) return fail(kFailed, "plot", script.error().message);
  if (find_on_path(python()).empty()) {
    return fail(kFailed, "plot",
                "there is no '" + python() +
                    "' to draw with; install python3-matplotlib or set FATHOM_PYTHON to a Python "
                    "that has matplotlib");
  }
  Launch launch{{python(), *script, *profile, "-o", options.directory, "--format", options.format},
                {}};
  if (!options.class_name.empty()) {
    launch.command.insert(launch.command.end(), {"--class", options.class_name});
  }
  if (options.hidden) launch.command.push_back("--hidden");
  if (options.user) launch.command.push_back("--user");
  if (options.linear) launch.command.push_back("--linear");
  std::error_code failed;
  const std::string own_path = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!own_path.empty()) launch.command.insert(launch.command.end(), {"--fathom", own_path});
  const auto pass = [&launch](const char* option, const std::optional<std::uint64_t>& time_ns) {
    if (time_ns) launch.command.insert(launch.command.end(), {option, time_text(*time_ns)});
  };
  pass("--from", options.window.from_ns);
  pass("--to", options.window.to_ns);
  std::fflush(stdout);
  const auto end = run_job(launch);
  if (!end) return fail(kFailed, "plot", end.error().message);
  return end->code == 0 ? kFine : kFailed;  // the script has printed why
}

}  // namespace

Action declare_plot(CLI::App& app) {
  auto options = std::make_shared<PlotOptions>();
  app.add_option("RUN", options->run, "run directory, profile.json, or the folder of a simulation")
      ->required()
      ->type_name("");
  app.add_option("-o,--output", options->directory, "folder for the pictures, created if needed")
      ->required()
      ->type_name("DIR");
  app.add_option("--class", options->class_name, "only traffic of this class")->type_name("CLASS");
  auto* hidden =
      app.add_flag("--hidden", options->hidden, "only messages that MPI sent on its own behalf");
  app.add_flag("--user", options->user, "only messages that the program sent itself")
      ->excludes(hidden);
  app.add_option("--format", options->format, "format of the pictures: png, svg or pdf")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"png", "svg", "pdf"}).description(""))
      ->capture_default_str();
  app.add_flag("--linear", options->linear,
               "use a linear colour scale instead of a logarithmic one");
  add_window(app, options->window, " (of the timeline; needs a trace)");
  return [options] { return plot(*options); };
}

}  // namespace fathom::cli

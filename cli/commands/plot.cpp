// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/plot.h"

#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "base/program_name.h"
#include "cli/language/command_line.h"
#include "cli/language/options.h"
#include "cli/language/traffic_selection.h"
#include "cli/launch/installation.h"
#include "cli/launch/job.h"
#include "cli/launch/mpi_probe.h"
#include "cli/runs/run_directory.h"
#include "profile/reader.h"

namespace fathom::cli {
namespace {

struct PlotOptions {
  std::string run;
  std::string directory;
  profile::SelectedNames traffic;
  std::string format = "png";
  bool hidden = false;
  bool user = false;
  bool linear = false;
  Window window;
};

// A simulation's results.json or comparison.json, another document, or a run's profile; the trace is
// in its folder.
base::Result<std::string> what_to_draw(const std::string& run) {
  std::error_code failed;
  if (std::filesystem::is_character_file(run, failed))  // /dev/zero has no end
    return base::Error{run + ": is a device, not a file"};
  for (const char* name : {"/results.json", "/comparison.json"}) {
    if (std::filesystem::exists(run + name, failed)) return run + name;
  }
  if (run.ends_with(".json") && std::filesystem::exists(run, failed)) return run;
  auto profile = profile_of(run);
  if (!profile && std::filesystem::exists(run + "/trace", failed))
    return run + "/profile.json";  // only the trace exists
  return profile;
}

// For titles; empty if the file is no profile: the script says what is wrong with it.
std::string program_of(const std::string& path) {
  class : public profile::Visitor {
    void on_traffic(profile::Traffic&) override {}
    void on_message_sizes(profile::MessageSizes&) override {}
  } nothing;
  const auto header = profile::read_profile(path, nothing);
  if (!header) return "";
  return base::program_name(header->application.executable, header->application.arguments);
}

// The script takes exact names, each in its own option.
base::Status pass_selection(const PlotOptions& options, const std::string& profile,
                            std::vector<std::string>& command) {
  if (options.traffic.whole()) return base::Done{};
  if (std::filesystem::path(profile).filename() == "results.json")
    return base::Error{
        "--classes, --communicators and --phases choose traffic of a run, and this is a "
        "simulation"};
  const auto selection = selection_in(profile, options.traffic);
  if (!selection) return selection.error();
  const auto pass = [&command](const char* option, const auto& names) {
    if (!names) return;
    for (const auto& name : *names) command.push_back(fmt::format("{}={}", option, name));
  };
  pass("--class", selection->classes);
  pass("--communicator", selection->communicators);
  pass("--phase", selection->phases);
  command.insert(command.end(), {"--chosen", described(options.traffic)});
  return base::Done{};
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
  if (const auto passed = pass_selection(options, *profile, launch.command); !passed)
    return fail(kFailed, "plot", passed.error().message);
  if (options.hidden) launch.command.push_back("--hidden");
  if (options.user) launch.command.push_back("--user");
  if (options.linear) launch.command.push_back("--linear");
  if (const std::string name = program_of(*profile); !name.empty())
    launch.command.insert(launch.command.end(), {"--name", name});
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
  app.add_option(
         "RUN", options->run,
         "run directory, profile.json, folder of a simulation, or what compare or place wrote as "
         "JSON")
      ->required()
      ->type_name("");
  app.add_option("-o,--output", options->directory, "folder for the pictures, created if needed")
      ->required()
      ->type_name("DIR");
  add_traffic_options(app, options->traffic);
  auto* hidden =
      app.add_flag("--hidden", options->hidden, "only messages that MPI sent on its own behalf");
  app.add_flag("--user", options->user, "only messages that the program sent itself")
      ->excludes(hidden);
  app.add_option("--format", options->format, "format of the pictures: png, svg or pdf")
      ->type_name("FORMAT")
      ->check(one_of({"png", "svg", "pdf"}))
      ->capture_default_str();
  app.add_flag("--linear", options->linear,
               "use a linear colour scale instead of a logarithmic one");
  add_window(app, options->window, " (of the timeline; needs a trace)");
  return [options] { return plot(*options); };
}

}  // namespace fathom::cli

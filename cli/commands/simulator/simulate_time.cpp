// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/simulator/simulate_time.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "cli/pages/hot_links.h"
#include "cli/runs/named_run.h"
#include "cli/runs/run_directory.h"
#include "cli/terminal/units.h"
#include "simulator/loggops/trace_program.h"
#include "simulator/routing/load_spread.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kPhasesShown = 12;

struct Parameter {
  const char* name;
  double simulator::LogGops::*value;
};

constexpr Parameter kParameters[] = {
    {"L", &simulator::LogGops::L}, {"o", &simulator::LogGops::o},
    {"g", &simulator::LogGops::g}, {"G", &simulator::LogGops::G},
    {"O", &simulator::LogGops::O}, {"S", &simulator::LogGops::S_bytes},
};

// Typical for a message in shared memory on a current machine; the network's part comes from the
// cluster.
constexpr simulator::LogGops kUsualMachine = {500, 300, 50, 0.1, 0, 65536};

double mean_wait_part(const simulator::ReplayResult& replay) {
  double wait_ns = 0, all_ns = 0;
  for (const simulator::RankTimes& rank : replay.ranks) {
    wait_ns += simulator::wait_ns(rank);
    all_ns += rank.end_ns;
  }
  return all_ns > 0 ? wait_ns / all_ns : 0;
}

// Counts all links: those of hosts limit flows, too.
simulator::WorstLink worst_of(const simulator::Network& network, const simulator::TimedRun& run) {
  std::vector<double> bytes(network.link_count());
  for (simulator::LinkId id = 0; id < network.link_count(); ++id)
    bytes[id] = run.usage->total_bytes(id);
  return simulator::load_spread(network, bytes, true).worst(true);
}

}  // namespace

base::Result<Model> model_named(const std::string& name) {
  if (name == "load") return Model::kLoad;
  if (name == "flow") return Model::kFlow;
  if (name == "replay") return Model::kReplay;
  return base::Error{"there is no model '" + name + "'; there are load, flow, replay"};
}

base::Result<simulator::LogGops> machine_from(const std::vector<std::string>& parameters) {
  simulator::LogGops machine = kUsualMachine;
  for (const std::string& text : parameters) {
    const std::size_t equals = text.find('=');
    const auto found = std::find_if(
        std::begin(kParameters), std::end(kParameters),
        [&](const Parameter& parameter) { return text.substr(0, equals) == parameter.name; });
    double value = -1;
    const char* const end = text.data() + text.size();
    if (equals != std::string::npos) {
      const auto [next, failed] = std::from_chars(text.data() + equals + 1, end, value);
      if (failed != std::errc() || next != end) value = -1;
    }
    if (found == std::end(kParameters) || !(value >= 0)) {
      return base::Error{
          "'" + text +
          "' is not a LogGOPS parameter; give L, o, g, G, O or S as NAME=NUMBER, 0 or more"};
    }
    machine.*found->value = value;
  }
  return machine;
}

ModelJob model_job_of(const profile::Profile& profile, std::string name) {
  return {simulator::job_from_profile(profile, std::move(name)),
          simulator::job_phases_from_profile(profile),
          {}};
}

base::Result<ModelJob> load_model_job(Model model, const std::string& run, const Window& window) {
  if (!window.whole()) {
    if (model == Model::kReplay)
      return base::Error{
          "model replay takes a whole run, not a window of time; make a run of the window with "
          "fathom trace slice"};
    analysis::Scope scope;
    scope.from_ns = window.from_ns.value_or(scope.from_ns);
    scope.to_ns = window.to_ns.value_or(scope.to_ns);
    const auto part = load_named_run(run, scope);
    if (!part) return part.error();
    // The window's profile is made from the trace, and knows neither.
    // Its name, and that it can be simulated at all.
    auto whole = load_model_job(Model::kLoad, run);
    if (!whole) return whole.error();
    return model_job_of(*part->profile, std::move(whole->job.name));
  }
  ModelJob result;
  if (model == Model::kReplay) {
    auto traced = simulator::load_program(run);
    if (!traced) return traced.error();
    for (const std::string& note : traced->notes)
      std::fprintf(stderr, "fathom: %s\n", note.c_str());
    result.job = simulator::job_from_program(traced->program,
                                             std::filesystem::path(run).filename().string());
    result.program = std::move(traced->program);
    return result;
  }
  const auto path = job_of(run);
  if (!path) return path.error();
  auto job = simulator::load_job(*path);
  if (!job) return job.error();
  result.job = std::move(*job);
  if (model != Model::kFlow) return result;
  auto phases = simulator::load_job_phases(*path);
  if (!phases) return phases.error();
  result.phases = std::move(*phases);
  return result;
}

base::Result<simulator::TimedRun> run_in_time(const simulator::Network& network,
                                              const ModelJob& job, Model model,
                                              const simulator::LogGops& machine,
                                              const simulator::Choice& choice) {
  return model == Model::kReplay
             ? simulator::run_replay(network, job.job, *job.program, machine, choice)
             : simulator::run_flows(network, job.job, job.phases, choice);
}

std::vector<std::string> timed_titles(Model model) {
  return {"time", model == Model::kReplay ? "waiting" : "phases"};
}

std::vector<std::string> timed_figures(const simulator::TimedRun& run) {
  return {human_time(run.seconds), run.phases.empty() ? percent(mean_wait_part(run.replay), 1)
                                                      : std::to_string(run.phases.size())};
}

std::string worst_link_in_use(const simulator::Network& network, const simulator::TimedRun& run) {
  const simulator::WorstLink worst = worst_of(network, run);
  if (worst.id == simulator::kNoId || !(run.seconds > 0)) return "none carries anything";
  return link_name(network, worst.id) + ", " + percent(worst.congestion, run.seconds) + " in use";
}

SimulatedRun timed_summary(const simulator::Network& network, const ModelJob& job,
                           const simulator::TimedRun& run, Model model) {
  SimulatedRun summary;
  summary.cluster = network.name();
  summary.job = job.job.name;
  summary.selection = run.selection;
  summary.placement = run.placement;
  summary.routing = run.routing;
  summary.model = model == Model::kReplay ? "replay" : "flow";
  summary.seconds = run.seconds;
  return summary;
}

std::string phases_text(const simulator::TimedRun& run) {
  if (run.phases.size() < 2) return "";
  std::string text;
  for (std::size_t at = 0; at < std::min(kPhasesShown, run.phases.size()); ++at) {
    const simulator::PhaseOutcome& phase = run.phases[at];
    text += fmt::format("  phase {:<28} {:>10} {:>10}\n", printable(phase.name),
                        human_bytes(phase.bytes), human_time(phase.end_s - phase.start_s));
  }
  return text;
}

}  // namespace fathom::cli

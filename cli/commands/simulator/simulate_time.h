// SPDX-License-Identifier: BSD-3-Clause
// The time models of `fathom simulate`: the input they need from a job, and what they print about a
// run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/language/options.h"
#include "cli/runs/simulated_runs.h"
#include "simulator/run/one_job_time.h"

namespace fathom::cli {

enum class Model { kLoad, kFlow, kReplay };

base::Result<Model> model_named(const std::string& name);

// "L=1000", "o=500", …: nanoseconds; for G and O nanoseconds per byte; S in bytes. An Error lists
// the names.
base::Result<simulator::LogGops> machine_from(const std::vector<std::string>& parameters);

// A job in the form its model needs: phases for flows, a program for replay.
struct ModelJob {
  simulator::Job job;
  std::vector<simulator::Job> phases;
  std::optional<simulator::Program> program;
};

// `run` as given by the user; for replay it needs a trace or is a GOAL schedule. Reports on stderr
// what is missing in a trace. With a window, which needs a trace, the job is what was received in
// it, by the ranks of the whole run; an Error with replay.
base::Result<ModelJob> load_model_job(Model model, const std::string& run,
                                      const Window& window = {});
// The same from the profile of a window.
ModelJob model_job_of(const profile::Profile& profile, std::string name);

base::Result<simulator::TimedRun> run_in_time(const simulator::Network& network,
                                              const ModelJob& job, Model model,
                                              const simulator::LogGops& machine,
                                              const simulator::Choice& choice);

// A run's line in the table of combinations: titles of its figures, the figures, and the link that
// was busiest.
std::vector<std::string> timed_titles(Model model);
std::vector<std::string> timed_figures(const simulator::TimedRun& run);
std::string worst_link_in_use(const simulator::Network& network, const simulator::TimedRun& run);

SimulatedRun timed_summary(const simulator::Network& network, const ModelJob& job,
                           const simulator::TimedRun& run, Model model);

// A line for each phase, if there are several.
std::string phases_text(const simulator::TimedRun& run);

}  // namespace fathom::cli

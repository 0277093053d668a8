// SPDX-License-Identifier: BSD-3-Clause
// The time models of `fathom simulate`: the input they need from a job, and what they print about a
// run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
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
// what is missing in a trace.
base::Result<ModelJob> load_model_job(Model model, const std::string& run);

base::Result<simulator::TimedRun> run_in_time(const simulator::Network& network,
                                              const ModelJob& job, Model model,
                                              const simulator::LogGops& machine,
                                              const simulator::Choice& choice);

void print_timed_heading(Model model);
void print_timed(const simulator::Network& network, const ModelJob& job,
                 const simulator::TimedRun& run);

}  // namespace fathom::cli

// SPDX-License-Identifier: BSD-3-Clause
// What `fathom simulate` prints of the combinations that it simulates: what they have in common, a line of each
// as soon as it is done, and at the end which one is best.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/simulator/simulate_time.h"
#include "cli/pages/run_table.h"
#include "cli/runs/simulated_runs.h"
#include "simulator/routing/load_spread.h"
#include "simulator/run/one_job.h"

namespace fathom::cli {

class RunsPage {
 public:
  // `prints`: false keeps the runs and prints nothing.
  RunsPage(const std::vector<simulator::Network>& networks, const std::vector<ModelJob>& jobs,
           std::vector<std::string> placements, Model model, bool prints);

  // A combination is simulated: with model load, or in time.
  void add(const simulator::Network& network, const simulator::Job& job,
           const simulator::LoadRun& run, const simulator::LoadSpread& spread, bool host_links);
  void add(const simulator::Network& network, const ModelJob& job, const simulator::TimedRun& run,
           Model model);
  // All are: which one is best.
  void end() const;
  // To standard output, with the letters of the terminal.
  static void print(const std::string& text);

 private:
  void print_last(const std::vector<std::string>& figures, const std::string& where) const;

  std::string inputs_;
  RunTable table_;
  std::vector<SimulatedRun> runs_;
  bool prints_;
};

}  // namespace fathom::cli

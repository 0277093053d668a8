// SPDX-License-Identifier: BSD-3-Clause
// Simulated combinations side by side, the best one marked: of one simulation, or of several
// results folders (`fathom simulate --compare A B`).
//
// Combinations of the same job under the same model compete with each other; simulated_runs.h says
// by what they are judged. A choice that is one and the same throughout each folder and differs
// between them, such as the cluster, is no part of a combination: it stands beside the folder's name,
// and the folders' runs share a row. As JSON, schema fathom-simulation-comparison/1:
//
//   {"schema", "folders": [{"name": "A", and what tells it apart: "cluster", …}, …],
//    "combinations": [{"cluster", "job", "scheduler", "selection", "placement", "routing", "model",
//                      "seed", "varied": {key: value},
//                      "judged_by": "max_congestion" | "seconds" | "response_s",
//                      "best": true for the best of those that compete, and its equals,
//                      "runs": by folder {"run" (its number there, from 1), "value" (by which it is
//                              judged), "max_congestion", "mean_congestion", "p95_congestion",
//                              "imbalance", "worst_link", "worst_host_link"} or null}]}
#pragma once

#include <string>
#include <vector>

#include "cli/runs/simulated_runs.h"
#include "cli/terminal/terminal.h"

namespace fathom::cli {

struct SimulationFolder {
  std::string name;  // as the user gave it
  std::vector<SimulatedRun> runs;
};

std::string comparison_page(const std::vector<SimulationFolder>& folders, const Terminal& terminal);
std::string comparison_json(const std::vector<SimulationFolder>& folders);

// "best: bisection, greedy-max: congestion of the worst link 1.20 s; worst: random, dmodk: 3.60 s, 3
// times as much", a line for each job and model with several runs.
std::string best_lines(const std::vector<SimulatedRun>& runs);

// By run: whether it is the best of those that compete with it, or equal to the best.
std::vector<bool> best_runs(const std::vector<SimulatedRun>& runs);

}  // namespace fathom::cli

// SPDX-License-Identifier: BSD-3-Clause
// How much of the ranks' time is computing, and how the rest is lost: the efficiencies of the POP
// Centre of Excellence (POP Standard Metrics for Parallel Performance Analysis,
// https://pop-coe.eu/node/69; M. Wagner et al., A Structured Approach to Performance Analysis,
// 2017). T is the run time, C the computing time of a rank:
//
//   parallel efficiency       mean C / T         = load balance × communication efficiency
//   load balance              mean C / max C
//   communication efficiency  max C / T          = serialisation × transfer efficiency
//   serialisation efficiency  max C / T_ideal    lost to ranks that wait for each other in turn
//   transfer efficiency       T_ideal / T        lost to moving data and to MPI itself
//
// T runs from the first rank that left MPI_Init to the last that entered MPI_Finalize; T_ideal is
// the same on an ideal network (ideal_network.h). For a part of the run (a window, a phase, some
// ranks) T is the longest time that a chosen rank spent in it, and communication efficiency is not
// split further, because dependences cross the borders of a part.
#pragma once

#include <optional>
#include <vector>

#include "analysis/results/analysis.h"
#include "analysis/time/ideal_network.h"

namespace fathom::analysis {

struct Efficiencies {
  double parallel = 0, load_balance = 0, communication = 0;
  std::optional<double> serialisation, transfer;
  double run_seconds = 0, mean_useful_seconds = 0, most_useful_seconds = 0;
  std::optional<double> ideal_seconds;
};

Efficiencies efficiencies_of(const std::vector<IdealTime>& processes);

base::Result<Outcome> efficiency(const Input& input);

}  // namespace fathom::analysis

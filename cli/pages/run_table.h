// SPDX-License-Identifier: BSD-3-Clause
// The table of `fathom simulate`: a line for each combination, printed as soon as it is simulated.
// Names are whole. A cluster or a job has a column only if there are several.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/runs/simulated_runs.h"

namespace fathom::cli {

class RunTable {
 public:
  // What may come in the lines, so that the columns fit.
  struct Names {
    std::vector<std::string> clusters, jobs, placements;
  };

  // `figures`: titles of the columns of numbers. The last column is text of any length.
  RunTable(Names names, std::vector<std::string> figures, std::string last_title);

  std::string heading() const;
  std::string line(const SimulatedRun& run, const std::vector<std::string>& figures,
                   const std::string& last) const;

 private:
  std::string row(const SimulatedRun& names, const std::vector<std::string>& figures,
                  const std::string& last) const;

  bool has_clusters_, has_jobs_;
  std::size_t cluster_width_, job_width_, placement_width_;
  std::vector<std::string> figures_;
  std::string last_title_;
};

}  // namespace fathom::cli

// SPDX-License-Identifier: BSD-3-Clause
// What the command line knows and the viewer asks it for, so that `view/` needs no folder of `cli/`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/load_run.h"
#include "base/result.h"
#include "live/job_state.h"
#include "profile/profile.h"

namespace fathom::view {

// Whether a run still runs.
struct RunMark {
  std::string state = "ended";  // "running", "lost", "unknown"
  std::string sentence;         // empty if it ended properly
};

struct Tools {
  // As `fathom analyze RUN` loads it.
  std::function<base::Result<analysis::LoadedRun>(const std::string& run, const analysis::Scope&)>
      load;
  // The document of `fathom report RUN --json`.
  std::function<base::Result<std::string>(const std::string& run)> report;
  std::function<RunMark(const std::string& run)> mark;
  // A running job's present state, again and again (live_history.h); an Error if it cannot be read.
  std::function<base::Result<std::function<base::Result<std::optional<live::JobState>>()>>(
      const std::string& run)>
      live;
  // File with a map of the machine, in Pyrite's format; empty: RUN/machine.json, if there is one.
  std::string machine_map;
  base::Result<std::set<std::int64_t>> (*ranks)(const std::string& text) = nullptr;
  // From the simulator, empty without it: what a network would carry of a run. Parameters as in the protocol, and
  // the profile of the chosen window, if there is one; a JSON object.
  std::function<base::Result<std::string>(const std::string& run,
                                          const std::map<std::string, std::string>& parameters,
                                          const profile::Profile* window)>
      network;
};

}  // namespace fathom::view

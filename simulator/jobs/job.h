// SPDX-License-Identifier: BSD-3-Clause
// A job as the simulator sees it: what each process sends to each other process during the whole
// run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "profile/selection.h"

namespace fathom::simulator {

// The largest job that is simulated.
inline constexpr std::int64_t kMostRanks = 1 << 24;

struct Job {
  std::string name;
  std::int64_t ranks = 0;
  std::vector<profile::PairCount> pairs;  // ascending by (source, destination), each pair once
  std::vector<std::string> hosts = {};    // by rank: where it ran; empty if unknown
};

// The part of a profile that `selection` admits. Processes of other worlds count: they need slots
// too.
Job job_from_profile(const profile::Profile& profile, std::string name,
                     const profile::Selection& selection = {});

// `path` is a profile.json, a folder that contains one, or output of the reference profiler: a
// folder or a tar archive of oxton-result<rank>.json files. An Error if it has no rank, or more than
// kMostRanks.
base::Result<Job> load_job(const std::string& path, const profile::Selection& selection = {});

// One job per phase that the program named, in the profile's order and named after the phase
// ("outside" for everything outside phases). A job without phases gives one job, "all".
base::Result<std::vector<Job>> load_job_phases(const std::string& path);
std::vector<Job> job_phases_from_profile(const profile::Profile& profile);

}  // namespace fathom::simulator

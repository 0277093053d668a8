// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/jobs/job.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "importers/pfprof.h"
#include "profile/pair_sums.h"
#include "profile/reader.h"
#include "profile/summary.h"

namespace fathom::simulator {
namespace {

// The name of the file, or of its folder if it is "profile.json", which says nothing.
std::string short_name(const std::string& path) {
  std::filesystem::path whole = std::filesystem::path(path).lexically_normal();
  if (whole.filename() == "profile.json") whole = whole.parent_path();
  if (!whole.has_filename()) whole = whole.parent_path();
  return whole.filename().empty() ? path : whole.filename().string();
}

base::Result<profile::Profile> load_job_profile(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!fs::exists(path, failed)) {
    return base::Error{path +
                       ": does not exist; give a run directory, a profile.json or an archive"};
  }
  if (fs::is_directory(path, failed)) {
    const std::string inside = path + "/profile.json";
    if (fs::exists(inside, failed)) return profile::load_profile(inside);
    if (!fs::exists(path + "/trace", failed)) return importers::import_pfprof(path);
    return base::Error{path + ": holds a trace and no profile.json; fathom report " + path +
                       " makes it from the trace"};
  }
  return fs::path(path).extension() == ".json" ? profile::load_profile(path)
                                               : importers::import_pfprof(path);
}

// Before anything is stored by rank.
base::Status check_ranks(const profile::Profile& profile, const std::string& path) {
  const std::int64_t ranks = profile::rank_count(profile);
  if (ranks > 0 && ranks <= kMostRanks) return base::Done{};
  if (ranks <= 0) return base::Error{path + ": has no processes"};
  return base::Error{path + ": is a job of " + std::to_string(ranks) + " processes; at most " +
                     std::to_string(kMostRanks) + " can be simulated"};
}

}  // namespace

Job job_from_profile(const profile::Profile& profile, std::string name,
                     const profile::Selection& selection) {
  Job job{std::move(name), profile::rank_count(profile), profile::sum_pairs(profile, selection)};
  job.hosts.resize(static_cast<std::size_t>(std::max<std::int64_t>(job.ranks, 0)));
  for (const profile::Rank& rank : profile.ranks) {
    if (rank.rank >= 0 && rank.rank < job.ranks)
      job.hosts[static_cast<std::size_t>(rank.rank)] = rank.host;
  }
  // All or nothing, because a placement needs the host of every rank.
  if (std::count(job.hosts.begin(), job.hosts.end(), "") > 0) job.hosts.clear();
  return job;
}

base::Result<Job> load_job(const std::string& path, const profile::Selection& selection) {
  const auto profile = load_job_profile(path);
  if (!profile) return profile.error();
  if (auto fits = check_ranks(*profile, path); !fits) return fits.error();
  Job job = job_from_profile(*profile, short_name(path), selection);
  return job;
}

base::Result<std::vector<Job>> load_job_phases(const std::string& path) {
  const auto profile = load_job_profile(path);
  if (!profile) return profile.error();
  if (auto fits = check_ranks(*profile, path); !fits) return fits.error();
  return job_phases_from_profile(*profile);
}

std::vector<Job> job_phases_from_profile(const profile::Profile& profile) {
  std::vector<std::string> names;
  for (const profile::Traffic& traffic : profile.traffic) {
    if (std::find(names.begin(), names.end(), traffic.phase) == names.end())
      names.push_back(traffic.phase);
  }
  if (names.size() < 2) return {job_from_profile(profile, "all")};
  std::vector<Job> phases;
  for (const std::string& name : names) {
    profile::Selection selection;
    selection.phases = {{name}};
    phases.push_back(job_from_profile(profile, name.empty() ? "outside" : name, selection));
  }
  return phases;
}

}  // namespace fathom::simulator

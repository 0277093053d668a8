// SPDX-License-Identifier: BSD-3-Clause
#include "cli/runs/run_directory.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <limits>
#include <utility>

#include "analysis/scope/profile_of_trace.h"
#include "base/order/natural_order.h"
#include "cli/runs/run_state.h"
#include "profile/assemble.h"
#include "profile/reader.h"
#include "profile/writer.h"
#include "trace/format/flight.h"
#include "trace/reader.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kProfile[] = "profile.json";
constexpr char kPartial[] = "partial";
constexpr char kTrace[] = "trace";
constexpr char kLive[] = "live";             // live/host_sample.h
constexpr char kCollector[] = ".collector";  // live/collector_address.h
constexpr char kStarted[] = ".started";      // profiler/process/run_directory.h
constexpr char kRunning[] = ".running";      // run_state.h
constexpr char kJobPrefix[] = "job-";
constexpr char kWorldPrefix[] = "world-";

// "snap-3" and "signal-1": what a flight recorder left (docs/flight.md). Whole numbers only, since a
// user's own folder may begin with the same words.
bool is_snapshot(const std::string& name) {
  for (const std::string prefix : {"snap-", "signal-"}) {
    if (name.starts_with(prefix) && name.size() > prefix.size() &&
        name.find_first_not_of("0123456789", prefix.size()) == name.npos)
      return true;
  }
  return name == trace::kSnapRequest;
}

// The files of a run that a new run would be confused with.
std::vector<fs::path> traces_of_a_run(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename();
    if (name == kProfile || name == kPartial || name == kTrace || name == kLive ||
        name == kCollector || name == kStarted || name == kRunning ||
        name.starts_with(kJobPrefix) || name.starts_with(kWorldPrefix) || is_snapshot(name)) {
      found.push_back(entry.path());
    }
  }
  return found;
}

base::Result<std::string> write_profile_of_trace(const std::string& run) {
  const auto trace = trace::Trace::open(run);
  if (!trace) return trace.error();
  profile::Profile profile = analysis::profile_of_trace(*trace, {});
  profile.coverage.notes.push_back(kMadeFromTrace);
  const std::string path = fs::path(run) / kProfile;
  if (auto written = profile::write_profile(profile, path); !written) return written.error();
  std::fprintf(stderr, "fathom: %s: created from the trace\n", path.c_str());
  return path;
}

// When a job started, Unix time in ns; one that left no profile counts as the last.
std::int64_t started_at(const std::string& folder) {
  class : public profile::Visitor {
    void on_traffic(profile::Traffic&) override {}
    void on_message_sizes(profile::MessageSizes&) override {}
  } nothing;
  const auto header = profile::read_profile(folder + "/" + kProfile, nothing);
  return header ? header->application.started_unix_ns : std::numeric_limits<std::int64_t>::max();
}

std::string job_id() {
  for (const char* variable : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"}) {
    if (const char* value = std::getenv(variable); value && *value) return value;
  }
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &local);
  return text;
}

}  // namespace

base::Result<RunDirectory> RunDirectory::create(const std::string& path, bool replace) {
  std::error_code failed;
  fs::path absolute = fs::absolute(path, failed).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();  // "r1/"
  const bool made = fs::create_directories(absolute, failed);
  if (failed || !fs::is_directory(absolute)) {
    return base::Error{"cannot create the run directory '" + path +
                       "': " + (failed ? failed.message() : "there is a file with that name") +
                       "; choose another with -o"};
  }
  if (access(absolute.c_str(), W_OK | X_OK) != 0) {
    return base::Error{"cannot write into the run directory '" + path +
                       "': " + std::strerror(errno) + "; choose another with -o"};
  }
  if (const RunState state = state_of(absolute); state.progress == Progress::kRunning) {
    return base::Error{"the job that records into '" + path + "' is " + sentence_of(state) +
                       "; choose another folder with -o"};
  }
  const std::vector<fs::path> old = traces_of_a_run(absolute);
  if (!old.empty() && !replace) {
    const std::string first = old.front().filename();
    return base::Error{
        "'" + path + "' already holds a run (" +
        (first == kStarted || first == kRunning ? "of a job that was killed" : first) +
        "); choose another folder with -o, or replace it with --force"};
  }
  for (const fs::path& file : old) {
    fs::remove_all(file, failed);
    if (failed) {
      return base::Error{"cannot remove the old '" + file.string() + "': " + failed.message() +
                         "; choose another folder with -o"};
    }
  }
  // What the viewer computed from the old trace; saved views are the user's own.
  for (const char* name : {"calls.pyramid", "waits.pyramid"}) {
    if (!old.empty()) fs::remove(absolute / "view" / name, failed);
  }
  return RunDirectory(absolute, made);
}

base::Result<RunDirectory> RunDirectory::create_default(const std::string& application) {
  const std::string base = "fathom-" + application + "-" + job_id();
  std::string name = base;
  std::error_code failed;
  // mkdir decides, so that two jobs started in the same second do not share a folder.
  for (int attempt = 2; attempt < 10'000; ++attempt) {
    if (fs::create_directory(name, failed)) return RunDirectory(fs::absolute(name), true);
    if (failed) break;
    name = base + "-" + std::to_string(attempt);
  }
  return base::Error{"cannot create the run directory '" + name +
                     "': " + (failed ? failed.message() : "every such name is taken") +
                     "; choose another with -o"};
}

std::string RunDirectory::shown() const {
  std::error_code failed;
  const std::string relative = fs::proximate(path_, failed);
  if (failed || relative.starts_with("..")) return path_;
  return relative.starts_with('-') ? "./" + relative : relative;  // not to be taken for an option
}

bool RunDirectory::has_profile() const {
  std::error_code failed;
  return fs::is_regular_file(profile_path(), failed);
}

bool RunDirectory::was_started() const {
  std::error_code failed;
  return fs::is_symlink(fs::symlink_status(path_ + "/" + kStarted, failed));
}

std::vector<std::string> RunDirectory::folders_named(const std::string& prefix) const {
  std::vector<std::string> folders;
  std::error_code failed;
  for (const fs::path& path : traces_of_a_run(path_)) {
    if (path.filename().string().starts_with(prefix) && fs::is_directory(path, failed))
      folders.push_back(path);
  }
  std::sort(folders.begin(), folders.end(), base::natural_less);
  return folders;
}

std::vector<std::string> RunDirectory::further_jobs() const { return folders_named(kJobPrefix); }

std::vector<std::string> RunDirectory::spawned_worlds() const {
  return folders_named(kWorldPrefix);
}

void RunDirectory::number_further_jobs() const {
  std::vector<std::pair<std::int64_t, std::string>> jobs;  // started at, folder
  for (const std::string& folder : further_jobs()) {
    if (state_of(folder).progress == Progress::kRunning) continue;
    jobs.emplace_back(started_at(folder), folder);
  }
  std::sort(jobs.begin(), jobs.end());
  std::size_t number = 2;
  for (const auto& [started, folder] : jobs) {
    std::error_code failed;
    const std::string numbered = path_ + "/" + kJobPrefix + std::to_string(number++);
    if (!fs::exists(fs::symlink_status(numbered, failed))) fs::rename(folder, numbered, failed);
  }
}

void RunDirectory::remove_if_unused() const {
  if (made_) rmdir(path_.c_str());  // fails, as intended, unless the folder is empty
}

base::Result<std::string> recorded_profile_of(const std::string& run) {
  std::error_code failed;
  const fs::file_status status = fs::status(run, failed);
  if (!fs::exists(status)) {
    return base::Error{"there is no run '" + run +
                       "'; name a run directory that fathom run made, or its profile.json"};
  }
  if (!fs::is_directory(status)) return run;
  const fs::path path = fs::path(run) / kProfile;
  if (fs::exists(path, failed)) return path.string();
  const RunState state = state_of(run);
  if (state.progress == Progress::kRunning) {
    return base::Error{"the job of '" + run + "' is " + sentence_of(state) +
                       "; its profile is written when it ends"};
  }
  const auto assembled = profile::assemble_parts(run);
  if (!assembled) return assembled.error();
  if (*assembled != profile::Assembled::kNothing) return path.string();
  if (state.progress != Progress::kEnded) {
    return base::Error{"'" + run + "' holds no profile.json: the job " +
                       (state.progress == Progress::kUnknown ? "is " : "") + sentence_of(state)};
  }
  return base::Error{"'" + run +
                     "' holds no profile.json; name a run directory that fathom run made, or "
                     "its profile.json"};
}

base::Result<std::string> profile_of(const std::string& run) {
  auto recorded = recorded_profile_of(run);
  std::error_code failed;
  if (recorded || !fs::is_directory(fs::path(run) / kTrace, failed)) return recorded;
  const RunState state = state_of(run);
  if (state.progress == Progress::kRunning) return recorded;
  if (state.progress != Progress::kEnded) {
    return base::Error{"'" + run + "' holds the trace of a job that " +
                       (state.progress == Progress::kLost ? "was killed" : "may still run") +
                       ", and no profile.json; fathom analyze and fathom trace read the trace "
                       "alone"};
  }
  return write_profile_of_trace(run);
}

base::Result<std::string> job_of(const std::string& run) {
  auto profile = profile_of(run);
  std::error_code failed;
  if (profile || fs::is_directory(fs::path(run) / kTrace, failed)) return profile;
  return run;
}

}  // namespace fathom::cli

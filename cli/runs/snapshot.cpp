// SPDX-License-Identifier: BSD-3-Clause
#include "cli/runs/snapshot.h"

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <thread>

#include "cli/runs/run_state.h"
#include "trace/format/flight.h"
#include "trace/reader.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kBetweenCounts = 20ms;
// Keepers look once a second; a file system that hosts share may show the request later.
constexpr auto kFirstAnswer = 15s;
constexpr auto kNextAnswer = 4s;
constexpr auto kForgotten = 60s;
constexpr int kMostSnapshots = 100'000;

std::size_t traces_in(const std::string& folder) {
  std::size_t count = 0;
  std::error_code failed;
  for (fs::directory_iterator entry(folder + "/trace", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path().extension() == ".trace") ++count;
  }
  return count;
}

// 0: not known yet.
std::size_t ranks_of(const std::string& folder) {
  const auto trace = trace::Trace::open(folder);
  return trace ? static_cast<std::size_t>(trace->definitions().world_size) : 0;
}

// Until all ranks have one, or for a while none has come. `first`: when the first one must have.
void wait_for(Snapshot& snapshot, Clock::time_point first) {
  std::size_t ranks = 0;
  auto until = first;
  while (ranks == 0 || snapshot.processes < ranks) {
    const std::size_t traced = traces_in(snapshot.folder);
    if (traced != snapshot.processes) {
      snapshot.processes = traced;
      until = Clock::now() + kNextAnswer;
      if (ranks == 0) ranks = ranks_of(snapshot.folder);
      continue;
    }
    if (Clock::now() >= until) break;
    std::this_thread::sleep_for(kBetweenCounts);
  }
  snapshot.missing = ranks > snapshot.processes ? ranks - snapshot.processes : 0;
}

bool may_run(const std::string& run) {
  const Progress progress = state_of(run).progress;
  return progress == Progress::kRunning || progress == Progress::kUnknown;
}

// A job writes it at its end.
bool has_profile(const std::string& run) {
  std::error_code failed;
  return fs::exists(run + "/profile.json", failed);
}

}  // namespace

base::Result<SnapshotRequest> SnapshotRequest::make(const std::string& run, const char* name,
                                                    const std::string& text,
                                                    std::chrono::nanoseconds takes) {
  const std::string path = run + "/" + name;
  const auto forgotten = kForgotten + std::chrono::duration_cast<std::chrono::seconds>(takes);
  struct stat facts {};
  if (lstat(path.c_str(), &facts) == 0 && facts.st_mtime + forgotten.count() < std::time(nullptr))
    unlink(path.c_str());
  if (symlink(text.c_str(), path.c_str()) == 0) return SnapshotRequest(path);
  if (errno == EEXIST) {
    return base::Error{
        fmt::format("another snapshot of '{}' is being taken; try again when it is done", run)};
  }
  return base::Error{fmt::format("cannot write to '{}': {}", run, std::strerror(errno))};
}

SnapshotRequest::~SnapshotRequest() {
  if (!path_.empty()) unlink(path_.c_str());
}

base::Result<std::string> make_snapshot_folder(const std::string& run) {
  for (int number = 1; number < kMostSnapshots; ++number) {
    const std::string name = fmt::format("snap-{}", number);
    if (mkdir((run + "/" + name).c_str(), 0777) == 0) return name;
    if (errno != EEXIST) break;
  }
  return base::Error{fmt::format("cannot make a folder in '{}': {}", run, std::strerror(errno))};
}

base::Result<std::vector<std::string>> running_jobs(const std::string& run) {
  std::error_code failed;
  if (!fs::is_directory(run, failed))
    return base::Error{"there is no run '" + run + "'; name a run directory of fathom run"};
  std::vector<std::string> jobs;
  for (fs::directory_iterator entry(run, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    const std::string job = run + "/" + name;
    if ((name.starts_with("job-") || name.starts_with("world-")) &&
        fs::is_directory(entry->symlink_status(failed)) && !has_profile(job) && may_run(job))
      jobs.push_back(job);
  }
  std::ranges::sort(jobs);
  const bool runs = may_run(run);
  if (runs && (jobs.empty() || !has_profile(run))) jobs.insert(jobs.begin(), run);
  if (jobs.empty()) return base::Error{fmt::format("the job of '{}' is no longer running", run)};
  return jobs;
}

base::Result<std::vector<Snapshot>> take_snapshots(const std::vector<std::string>& jobs,
                                                   std::uint64_t for_ns) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(for_ns));
  std::vector<Snapshot> snapshots;
  std::vector<SnapshotRequest> requests;
  std::optional<base::Error> refused;
  std::error_code failed;
  for (const std::string& job : jobs) {
    auto name = make_snapshot_folder(job);
    if (!name) {
      refused = name.error();
      break;
    }
    snapshots.push_back({.job = job, .folder = job + "/" + *name});
    auto request = SnapshotRequest::make(job, trace::kSnapRequest, *name);
    if (!request) {
      refused = request.error();
      break;
    }
    requests.push_back(std::move(*request));
  }
  const auto first = Clock::now() + kFirstAnswer;
  std::size_t processes = 0;
  for (Snapshot& snapshot : snapshots) {
    if (!refused) wait_for(snapshot, first);
    processes += snapshot.processes;
    if (snapshot.processes == 0) fs::remove(snapshot.folder, failed);
  }
  if (refused) return *refused;
  if (processes == 0) {
    return base::Error{fmt::format(
        "no process of '{0}' answered. Only jobs with a flight recorder (fathom run --flight 16M) "
        "keep their last events. fathom snap {0} --for 5s records the next ones of a job of fathom "
        "run without --no-time, unless it begins MPI with a session; on other hosts, the job needs "
        "--live, or the host fathom watch-host",
        jobs.front())};
  }
  return snapshots;
}

}  // namespace fathom::cli

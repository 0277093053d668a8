// SPDX-License-Identifier: BSD-3-Clause
#include "cli/runs/snapshot.h"

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
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

// Until all ranks have one, or for a while none has come.
Snapshot wait_for(const std::string& folder) {
  Snapshot snapshot{.folder = folder};
  std::size_t ranks = 0;
  auto until = Clock::now() + kFirstAnswer;
  while (Clock::now() < until && (ranks == 0 || snapshot.processes < ranks)) {
    std::this_thread::sleep_for(kBetweenCounts);
    const std::size_t traced = traces_in(folder);
    if (traced == snapshot.processes) continue;
    snapshot.processes = traced;
    until = Clock::now() + kNextAnswer;
    if (ranks == 0) ranks = ranks_of(folder);
  }
  snapshot.missing = ranks > snapshot.processes ? ranks - snapshot.processes : 0;
  return snapshot;
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
        fmt::format("another snapshot of '{}' is being taken; try again when it is there", run)};
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

base::Status check_runs(const std::string& run) {
  std::error_code failed;
  if (!fs::is_directory(run, failed))
    return base::Error{"there is no run '" + run + "'; name a run directory of fathom run"};
  const RunState state = state_of(run);
  if (state.progress == Progress::kEnded || state.progress == Progress::kLost)
    return base::Error{fmt::format("the job of '{}' does not run any more", run)};
  return base::Done{};
}

base::Result<Snapshot> take_snapshot(const std::string& run, std::uint64_t for_ns) {
  if (const auto checked = check_runs(run); !checked) return checked.error();
  std::error_code failed;
  std::this_thread::sleep_for(std::chrono::nanoseconds(for_ns));
  auto name = make_snapshot_folder(run);
  if (!name) return name.error();
  const std::string folder = run + "/" + *name;
  Snapshot snapshot;
  {
    const auto request = SnapshotRequest::make(run, trace::kSnapRequest, *name);
    if (request) snapshot = wait_for(folder);
    if (!request || snapshot.processes == 0) fs::remove(folder, failed);
    if (!request) return request.error();
  }
  if (snapshot.processes == 0) {
    return base::Error{fmt::format(
        "no process of '{0}' answered. The last events are kept by jobs with a flight "
        "recorder (fathom run --flight 16M); the next ones can be recorded, with fathom "
        "snap {0} --for 5s, of jobs of fathom run --live, and of their ranks on other "
        "hosts where fathom watch-host runs",
        run)};
  }
  return snapshot;
}

}  // namespace fathom::cli

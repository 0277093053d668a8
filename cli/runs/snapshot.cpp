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
constexpr std::time_t kForgotten_s = 60;
constexpr int kMostSnapshots = 100'000;

// RUN/.snap, for as long as the object lives.
class Request {
 public:
  static base::Result<Request> make(const std::string& run, const std::string& text) {
    const std::string path = run + "/" + trace::kSnapRequest;
    struct stat facts {};
    if (lstat(path.c_str(), &facts) == 0 && facts.st_mtime + kForgotten_s < std::time(nullptr))
      unlink(path.c_str());  // of somebody who was interrupted
    if (symlink(text.c_str(), path.c_str()) == 0) return Request(path);
    if (errno == EEXIST) {
      return base::Error{
          fmt::format("another snapshot of '{}' is being taken; try again when it is there", run)};
    }
    return base::Error{fmt::format("cannot write to '{}': {}", run, std::strerror(errno))};
  }
  ~Request() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  Request(Request&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  Request& operator=(Request&&) = delete;

 private:
  explicit Request(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Makes the first RUN/snap-N that is free; the name without RUN.
base::Result<std::string> make_folder(const std::string& run) {
  for (int number = 1; number < kMostSnapshots; ++number) {
    const std::string name = fmt::format("snap-{}", number);
    if (mkdir((run + "/" + name).c_str(), 0777) == 0) return name;
    if (errno != EEXIST) break;
  }
  return base::Error{fmt::format("cannot make a folder in '{}': {}", run, std::strerror(errno))};
}

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

base::Result<Snapshot> take_snapshot(const std::string& run, std::uint64_t for_ns) {
  std::error_code failed;
  if (!fs::is_directory(run, failed))
    return base::Error{"there is no run '" + run + "'; name a run directory of fathom run"};
  const RunState state = state_of(run);
  if (state.progress == Progress::kEnded || state.progress == Progress::kLost)
    return base::Error{fmt::format("the job of '{}' does not run any more", run)};
  std::this_thread::sleep_for(std::chrono::nanoseconds(for_ns));
  auto name = make_folder(run);
  if (!name) return name.error();
  const std::string folder = run + "/" + *name;
  Snapshot snapshot;
  {
    const auto request = Request::make(run, *name);
    if (request) snapshot = wait_for(folder);
    if (!request || snapshot.processes == 0) fs::remove(folder, failed);
    if (!request) return request.error();
  }
  if (snapshot.processes == 0) {
    return base::Error{
        fmt::format("no process of '{}' answered: it must run with a flight recorder, fathom run "
                    "--flight 16M",
                    run)};
  }
  return snapshot;
}

}  // namespace fathom::cli

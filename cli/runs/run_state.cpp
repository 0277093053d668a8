// SPDX-License-Identifier: BSD-3-Clause
#include "cli/runs/run_state.h"

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "base/atomic_file.h"
#include "base/process_mark.h"
#include "cli/terminal/units.h"

namespace fathom::cli {
namespace {

constexpr char kRunningMark[] = "/.running";
constexpr char kStartedMark[] = "/.started";

std::int64_t made_at(const std::string& path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0 ? status.st_mtime : 0;
}

// What a library has left as .started: "JOB MARK"; without a mark if it was an older one.
struct StartedMark {
  std::string job, mark;

  explicit StartedMark(const std::string& run) {
    std::error_code failed;
    const std::string target = std::filesystem::read_symlink(run + kStartedMark, failed);
    const auto blank = target.find(' ');
    job = target.substr(0, blank);
    mark = blank == target.npos ? "" : target.substr(blank + 1);
  }
};

// Whether rank 0 has left its counts. It takes them back if MPI begins again
// (profiler/finish/rescue.h).
bool left_counts(const std::string& run, const std::string& job) {
  std::error_code failed;
  return std::filesystem::exists(run + "/partial/" + job + ".0.rows", failed);
}

Progress progress_of(base::Liveness liveness) {
  return liveness == base::Liveness::kAlive  ? Progress::kRunning
         : liveness == base::Liveness::kGone ? Progress::kLost
                                             : Progress::kUnknown;
}

}  // namespace

RunState state_of(const std::string& run) {
  RunState state;
  std::ifstream file(run + kRunningMark);
  std::string mark;
  if (std::getline(file, mark)) {
    std::getline(file, state.command);
    std::getline(file, state.what);
    state.progress = progress_of(base::liveness_of(mark));
    state.process = base::named_process(mark);
    state.since_s = made_at(run + kRunningMark);
  }
  std::error_code failed;
  const bool started =
      std::filesystem::is_symlink(std::filesystem::symlink_status(run + kStartedMark, failed));
  // A job goes on without its `fathom run`, if that alone was killed.
  if (!started || state.progress == Progress::kRunning || state.progress == Progress::kUnknown)
    return state;
  const StartedMark by_library(run);
  state.progress = progress_of(base::liveness_of(by_library.mark));
  if (state.progress == Progress::kLost && left_counts(run, by_library.job))
    state.progress = Progress::kEnded;
  if (state.progress != Progress::kEnded) state.process = base::named_process(by_library.mark);
  state.since_s = made_at(run + kStartedMark);
  return state;
}

std::string sentence_of(const RunState& state) {
  const auto age = static_cast<double>(std::time(nullptr) - state.since_s);
  const std::string who = state.process.empty() ? "" : " (" + state.process + ")";
  switch (state.progress) {
    case Progress::kRunning: return "still running, for " + human_seconds(std::max(age, 0.0)) + who;
    case Progress::kLost: return "ended abruptly" + who + ": it was killed, or its host went down";
    case Progress::kUnknown:
      return "perhaps still running" + who + ": only that host can tell; it started " +
             human_seconds(std::max(age, 0.0)) + " ago";
    case Progress::kEnded: break;
  }
  return "ended";
}

const char* name_of(Progress progress) {
  switch (progress) {
    case Progress::kRunning: return "running";
    case Progress::kLost: return "lost";
    case Progress::kUnknown: return "unknown";
    case Progress::kEnded: break;
  }
  return "ended";
}

RunningMark::RunningMark(const std::string& run, const std::string& command,
                         const std::string& what)
    : path_(run + kRunningMark) {
  base::AtomicFile file;
  if (!file.open(path_, base::AtomicFile::Existing::kReplace)) return;
  file.append(base::process_mark() + "\n" + printable(command) + "\n" + what + "\n");
  (void)file.commit();
}

void RunningMark::remove() {
  if (!path_.empty()) unlink(path_.c_str());
  path_.clear();
}

}  // namespace fathom::cli

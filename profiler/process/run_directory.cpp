// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/process/run_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "base/process_mark.h"

namespace fathom::profiler {
namespace {

constexpr char kMark[] = "/.started";

// The job that RUN is marked for, or 0 (no job has this number) if none. Async-signal-safe.
std::uint32_t holder(const char* run) noexcept {
  char path[PATH_MAX], number[16];
  const std::size_t length_of_run = std::strlen(run);
  if (length_of_run + sizeof kMark > sizeof path) return 0;
  std::memcpy(path, run, length_of_run);
  std::memcpy(path + length_of_run, kMark, sizeof kMark);
  const ssize_t length = readlink(path, number, sizeof number);
  std::uint32_t job = 0;
  for (ssize_t i = 0; i < length && number[i] >= '0' && number[i] <= '9'; ++i) {
    job = job * 10 + static_cast<std::uint32_t>(number[i] - '0');
  }
  return job;
}

// Failure is fine: on a full file system, or one without links, RUN has no mark and other jobs
// recognise it by its profile.
void mark(const std::string& run, std::uint32_t job) {
  const std::string content = std::to_string(job) + " " + base::process_mark();
  (void)!symlink(content.c_str(), (run + kMark).c_str());
}

}  // namespace

bool make_directories(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return true;
  if (errno != ENOENT) return false;
  const auto slash = path.find_last_of('/');
  return slash != std::string::npos && slash > 0 && make_directories(path.substr(0, slash)) &&
         (mkdir(path.c_str(), 0777) == 0 || errno == EEXIST);
}

std::string further_job_directory(const std::string& run, std::uint32_t job) {
  return run + "/job-" + std::to_string(job);
}

std::string world_directory(const std::string& run, std::uint32_t job) {
  return run + "/world-" + std::to_string(job);
}

bool is_marked_for_another(const char* run, std::uint32_t job) noexcept {
  const std::uint32_t other = holder(run);
  return other != 0 && other != job;
}

bool is_taken(const std::string& run, std::uint32_t job) {
  return access((run + "/profile.json").c_str(), F_OK) == 0 ||
         is_marked_for_another(run.c_str(), job);
}

std::optional<std::string> claim_run_directory(const std::string& run, std::uint32_t job) {
  if (!make_directories(run)) return std::nullopt;
  if (!is_taken(run, job)) {
    mark(run, job);
    // Check again: another job may have marked it first, or may just have finished here.
    if (!is_taken(run, job)) return run;
    if (holder(run.c_str()) == job) release_run_directory(run);
  }
  const std::string own = further_job_directory(run, job);
  if (!make_directories(own)) return std::nullopt;
  mark(own, job);
  return own;
}

void release_run_directory(const std::string& run) { unlink((run + kMark).c_str()); }

}  // namespace fathom::profiler

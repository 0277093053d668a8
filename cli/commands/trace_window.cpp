// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/trace_window.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include "cli/runs/snapshot.h"
#include "live/window_pages.h"
#include "trace/reader.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using live::WindowPages;

constexpr auto kBetweenLooksAtFolder = 20ms;
// Watchers of other hosts look once a second, and a file system that hosts share may be late.
constexpr auto kOtherHosts = 4s;
// A window ends by itself; a process that is stopped in it does not.
constexpr auto kToEnd = 5s;

struct Found {
  std::set<std::int64_t> ranks;
  bool all_ended = true;  // no process still writes
};

// From JOB.RANK.trace, and JOB.RANK.live while it is written.
Found traces_in_folder(const std::string& folder) {
  Found found;
  std::error_code failed;
  for (fs::directory_iterator entry(folder + "/trace", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const fs::path name = entry->path().filename();
    if (name.extension() == ".live") found.all_ended = false;
    if (name.extension() == ".trace")
      found.ranks.insert(std::atoll(name.stem().extension().string().c_str() + 1));
  }
  return found;
}

bool all_have_ended(const std::vector<WindowPages::Process>& processes) {
  return std::none_of(processes.begin(), processes.end(), [](const auto& process) {
    return process.answer == WindowPages::Answer::kRecords &&
           fs::exists("/proc/" + std::to_string(process.pid));
  });
}

class Recording {
 public:
  static base::Result<std::unique_ptr<Recording>> of(const std::string& job, std::uint64_t for_ns) {
    const auto name = make_snapshot_folder(job);
    if (!name) return name.error();
    const auto number = static_cast<std::uint32_t>(std::atol(name->c_str() + name->find('-') + 1));
    const live::WindowRequest wish{number, for_ns};
    std::error_code failed;
    auto request = SnapshotRequest::make(job, trace::kWindowRequest, live::text_of(wish),
                                         std::chrono::nanoseconds(for_ns));
    if (!request) {
      fs::remove(job + "/" + *name, failed);
      return request.error();
    }
    auto made = std::make_unique<Recording>(job, wish, *name);
    made->link_.emplace(std::move(*request));
    return made;
  }

  Recording(const std::string& job, live::WindowRequest request, const std::string& name)
      : pages_(absolute(job)), request_(request), job_(job), folder_(job + "/" + name) {}

  void ask() {
    pages_.find();
    pages_.ask(request_);
  }

  void withdraw() { pages_.withdraw(request_.number); }

  // `end`: when it was withdrawn.
  void wait(Clock::time_point end) {
    const bool may_be_elsewhere = !knows_all();
    const auto latest = end + (may_be_elsewhere ? kOtherHosts + kToEnd : kToEnd);
    while (Clock::now() < latest) {
      const Found found = traces_in_folder(folder_);
      const bool waits = may_be_elsewhere && Clock::now() < end + kOtherHosts &&
                         (world_size() == 0 || found.ranks.size() < world_size());
      if (!waits && found.all_ended && all_have_ended(pages_.answers(request_.number))) break;
      std::this_thread::sleep_for(kBetweenLooksAtFolder);
    }
    link_.reset();
  }

  TraceWindow window() const {
    TraceWindow window;
    window.job = job_;
    window.folder = folder_;
    window.was_asked = world_size() > 0;
    const Found found = traces_in_folder(folder_);
    window.processes = found.ranks.size();
    std::size_t world = world_size();
    if (world == 0) {
      const auto trace = trace::Trace::open(folder_);
      world = trace ? static_cast<std::size_t>(trace->definitions().world_size) : 0;
    }
    for (std::int64_t rank = 0; rank < static_cast<std::int64_t>(world); ++rank)
      if (!found.ranks.contains(rank)) window.none.push_back(rank);
    for (const auto& process : pages_.answers(request_.number)) {
      if (process.answer == WindowPages::Answer::kFailed)
        window.failure = fmt::format("rank {}: {}", process.rank, std::strerror(process.error));
    }
    std::error_code failed;
    if (window.processes == 0) fs::remove_all(folder_, failed);
    return window;
  }

 private:
  static std::string absolute(const std::string& path) {
    std::error_code failed;
    return fs::absolute(path, failed);
  }
  std::size_t world_size() const {
    std::size_t most = 0;
    for (const auto& process : pages_.answers(request_.number))
      most = std::max<std::size_t>(most, process.world_size);
    return most;
  }
  bool knows_all() const {
    const std::size_t world = world_size();
    return world > 0 && pages_.answers(request_.number).size() >= world;
  }

  WindowPages pages_;
  live::WindowRequest request_;
  std::string job_, folder_;
  std::optional<SnapshotRequest> link_;
};

}  // namespace

bool can_be_asked(const std::string& job) {
  std::error_code failed;
  return WindowPages(fs::absolute(job, failed)).find() > 0;
}

base::Result<std::vector<TraceWindow>> record_windows(const std::vector<std::string>& jobs,
                                                      std::uint64_t for_ns) {
  std::vector<std::unique_ptr<Recording>> recordings;
  std::optional<base::Error> refused;
  for (const std::string& job : jobs) {
    auto recording = Recording::of(job, for_ns);
    if (!recording) {
      refused = recording.error();
      break;
    }
    recordings.push_back(std::move(*recording));
  }
  if (!refused) {
    for (const auto& recording : recordings) recording->ask();
    const auto end = Clock::now() + std::chrono::nanoseconds(for_ns);
    std::this_thread::sleep_until(end);
    for (const auto& recording : recordings) recording->withdraw();
    for (const auto& recording : recordings) recording->wait(end);
  }
  std::vector<TraceWindow> windows;
  for (const auto& recording : recordings) windows.push_back(recording->window());
  if (refused) return *refused;
  return windows;
}

}  // namespace fathom::cli

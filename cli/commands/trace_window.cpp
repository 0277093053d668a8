// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/trace_window.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <thread>

#include "cli/runs/run_state.h"
#include "cli/runs/snapshot.h"
#include "live/window_pages.h"
#include "trace/reader.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using live::WindowPages;

constexpr auto kBetweenLooks = 20ms;
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
  Recording(const std::string& run, live::WindowRequest request, std::string folder)
      : pages_(run), request_(request), folder_(std::move(folder)) {}

  void record() {
    pages_.find();
    pages_.ask(request_);
    const auto end = Clock::now() + std::chrono::nanoseconds(request_.for_ns);
    std::this_thread::sleep_until(end);
    pages_.withdraw(request_.number);
    const bool may_be_elsewhere = !knows_all();
    const auto latest = end + (may_be_elsewhere ? kOtherHosts + kToEnd : kToEnd);
    while (Clock::now() < latest) {
      const Found found = traces_in_folder(folder_);
      const bool waits =
          may_be_elsewhere && Clock::now() < end + kOtherHosts && found.ranks.size() < world_size();
      if (!waits && found.all_ended && all_have_ended(pages_.answers(request_.number))) break;
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }

  bool could_ask() const { return world_size() > 0; }

  TraceWindow window() const {
    TraceWindow window;
    window.folder = folder_;
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
    return window;
  }

 private:
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
  std::string folder_;
};

}  // namespace

bool can_be_asked(const std::string& run) {
  std::error_code failed;
  return WindowPages(fs::absolute(run, failed)).find() > 0;
}

base::Result<std::optional<TraceWindow>> record_window(const std::string& run,
                                                       std::uint64_t for_ns) {
  if (const auto checked = check_runs(run); !checked) return checked.error();
  const auto name = make_snapshot_folder(run);
  if (!name) return name.error();
  const std::string folder = run + "/" + *name;
  const auto number = static_cast<std::uint32_t>(std::atol(name->c_str() + name->find('-') + 1));
  const live::WindowRequest wish{number, for_ns};
  std::error_code failed;
  Recording recording(fs::absolute(run, failed), wish, folder);
  {
    const auto request = SnapshotRequest::make(run, trace::kWindowRequest, live::text_of(wish),
                                               std::chrono::nanoseconds(for_ns));
    if (!request) {
      fs::remove(folder, failed);
      return request.error();
    }
    recording.record();
  }
  TraceWindow window = recording.window();
  if (window.processes > 0) return std::optional(std::move(window));
  fs::remove_all(folder, failed);
  if (!recording.could_ask()) return std::optional<TraceWindow>();
  return base::Error{
      window.failure.empty()
          ? fmt::format("no rank of '{}' has made an MPI call meanwhile, so there is nothing to "
                        "record; fathom top {} --why says what they do",
                        run, run)
          : fmt::format("no rank of '{}' could record: {}", run, window.failure)};
}

}  // namespace fathom::cli

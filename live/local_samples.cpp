// SPDX-License-Identifier: BSD-3-Clause
#include "live/local_samples.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/atomic_file.h"
#include "live/process_stat.h"

namespace fathom::live {
namespace {

std::uint64_t nanoseconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::string host_name() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

bool has_gone(const ProcessPages::Process& process, const ProcessStat& stat) {
  return stat.state == 0 || stat.state == 'Z' || stat.state == 'X' ||
         stat.started != process.started;
}

ProcessState state_of(PageState page, bool is_gone, char process) {
  if (page == PageState::kEnded) return ProcessState::kEnded;
  if (is_gone) return ProcessState::kGone;
  if (process == 'T' || process == 't') return ProcessState::kStopped;
  if (page == PageState::kFinalizing) return ProcessState::kFinalizing;
  return page == PageState::kRunning ? ProcessState::kRunning : ProcessState::kStarting;
}

// A communicator may be freed between the copy of its place and the look at it: then all is done again.
void add_queues(const ProcessPages::Process& process, ProcessSample& sample) {
  constexpr int kTries = 3;
  for (int tries = 0; sample.page.state == PageState::kRunning; ++tries) {
    sample.queues = read_queues(static_cast<pid_t>(process.pid), sample.page.queues);
    if (sample.queues.access != QueueAccess::kUnknown || !sample.page.queues.are_there ||
        !sample.page.queues.is_complete || sample.queues.is_too_large || tries == kTries)
      return;
    auto page = read_page(process.descriptor);
    if (!page) return;
    sample.page = std::move(*page);
  }
}

}  // namespace

LocalSamples::LocalSamples(const std::string& run, Announcements announcements)
    : pages_(run, std::move(announcements)), run_(run), host_(host_name()) {}

bool LocalSamples::have_ended() const {
  return !pages_.processes().empty() &&
         std::all_of(pages_.processes().begin(), pages_.processes().end(),
                     [](const ProcessPages::Process& process) {
                       if (has_gone(process, stat_of_process(std::to_string(process.pid))))
                         return true;
                       const auto header = read_page_header(process.descriptor);
                       return header && header->state == PageState::kEnded;
                     });
}

std::vector<ProcessSample> LocalSamples::take() {
  pages_.find();
  std::vector<ProcessSample> samples;
  for (const ProcessPages::Process& process : pages_.processes()) {
    auto page = read_page(process.descriptor);
    if (!page) continue;
    const ProcessStat stat = stat_of_process(std::to_string(process.pid));
    const bool is_gone = has_gone(process, stat);
    ProcessSample sample;
    sample.host = host_;
    sample.pid = process.pid;
    sample.state = state_of(page->state, is_gone, stat.state);
    if (!is_gone)
      sample.processor_s =
          static_cast<double>(stat.processor_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
    sample.page = std::move(*page);
    if (!is_gone) add_queues(process, sample);
    sample.taken_unix_ns = static_cast<std::int64_t>(nanoseconds_of(CLOCK_REALTIME));
    sample.clock_ns = nanoseconds_of(CLOCK_MONOTONIC_COARSE);
    for (const ThreadCopy& thread : sample.page.threads)
      sample.places.push_back(places_.place_of(process.pid, process.started, thread.site));
    samples.push_back(std::move(sample));
  }
  return samples;
}

std::size_t LocalSamples::rescue() {
  std::size_t count = 0;
  const std::string partial = run_ + "/partial";
  for (std::size_t i = 0; i < pages_.processes().size(); ++i) {
    const ProcessPages::Process& process = pages_.processes()[i];
    if (process.is_settled || !has_gone(process, stat_of_process(std::to_string(process.pid))))
      continue;
    auto page = read_page(process.descriptor);
    const std::string file = page ? partial + "/" + std::to_string(page->rows.job) + "." +
                                        std::to_string(page->rows.rank) + ".rows"
                                  : "";
    std::error_code error;
    if (!page || page->state == PageState::kEnded ||
        std::filesystem::exists(run_ + "/profile.json", error) ||
        std::filesystem::exists(file, error)) {
      pages_.settle(i);
      continue;
    }
    std::filesystem::create_directories(partial, error);
    page->rows.elapsed_ns = nanoseconds_of(CLOCK_REALTIME) - page->rows.started_unix_ns;
    base::AtomicFile rows;
    if (!rows.open(file, base::AtomicFile::Existing::kKeep)) continue;
    rows.append(row_file(*page, profile::EndReason::kSignal, SIGKILL));
    if (!rows.commit()) continue;
    pages_.settle(i);
    ++count;
  }
  return count;
}

}  // namespace fathom::live

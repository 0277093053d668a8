// SPDX-License-Identifier: BSD-3-Clause
#include "live/process_pages.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/process/memory_files.h"
#include "live/process_stat.h"

namespace fathom::live {

ProcessPages::~ProcessPages() {
  for (const Process& process : processes_) {
    close(process.descriptor);
    if (process.end >= 0) close(process.end);
  }
}

bool ProcessPages::is_this_run(const std::string& directory) const {
  std::error_code error;
  return !directory.empty() &&
         (directory == run_ || std::filesystem::equivalent(directory, run_, error));
}

bool ProcessPages::is_known(std::int64_t pid, std::uint64_t started) const {
  return std::any_of(processes_.begin(), processes_.end(), [&](const Process& known) {
    return known.pid == pid && known.started == started;
  });
}

void ProcessPages::keep(std::int64_t pid, std::uint64_t started, int descriptor) {
  const int end = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
  processes_.push_back({pid, started, descriptor, end, false});
}

void ProcessPages::look_at(const std::string& process) {
  const std::int64_t pid = std::atoll(process.c_str());
  struct stat owner {};
  if (stat(("/proc/" + process).c_str(), &owner) != 0 || owner.st_uid != geteuid()) return;
  const ProcessStat now = stat_of_process(process);
  if (is_known(pid, now.started)) return;
  base::find_memory_file(process, kPageName, [&](const std::string& path) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return false;
    // Others have it open too: readers, and children.
    const auto header = read_page_header(descriptor);
    const bool is_its_own = header && header->rows.pid == pid &&
                            header->process_started == now.started && is_this_run(header->run);
    if (is_its_own) {
      keep(pid, now.started, descriptor);
    } else {
      close(descriptor);
    }
    return is_its_own;
  });
}

void ProcessPages::hear() {
  while (const auto announced = announcements_.next()) {
    const auto header = read_page_header(announced->descriptor);
    // It may have ended since, and in a time namespace of its own it has another idea of when it
    // started. The kernel says that a process of this user has sent the page, and which.
    const ProcessStat now = stat_of_process(std::to_string(announced->pid));
    const std::uint64_t started = now.state != 0 ? now.started
                                  : header       ? header->process_started
                                                 : 0;
    if (header && announced->pid > 0 && is_this_run(header->run) &&
        !is_known(announced->pid, started)) {
      keep(announced->pid, started, announced->descriptor);
    } else {
      close(announced->descriptor);
    }
  }
}

bool ProcessPages::wait(std::chrono::steady_clock::time_point until, std::vector<pollfd>& others) {
  std::vector<pollfd> all = others;
  const std::size_t announcing = all.size();
  all.push_back({announcements_.descriptor(), POLLIN, 0});  // a negative one is left out
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].end < 0) continue;
    numbers.push_back(i);
    all.push_back({processes_[i].end, POLLIN, 0});
  }
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  const auto patience = std::clamp<std::int64_t>(left.count(), 0, 60'000);
  if (poll(all.data(), all.size(), static_cast<int>(patience)) <= 0) return false;
  std::copy_n(all.begin(), announcing, others.begin());
  if (all[announcing].revents != 0) hear();
  bool has_ended = false;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (all[announcing + 1 + i].revents == 0) continue;
    Process& process = processes_[numbers[i]];
    close(std::exchange(process.end, -1));
    has_ended = true;
  }
  return has_ended;
}

void ProcessPages::find() {
  hear();
  for (const std::string& process : base::numbers_in("/proc")) look_at(process);
}

}  // namespace fathom::live

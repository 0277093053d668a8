// SPDX-License-Identifier: BSD-3-Clause
// The pages of a run's processes on this machine: as they announce themselves, or found through /proc.
//
// An open page outlives its process, even after SIGKILL: a reader that has it open can still read what the
// process had counted. Only processes of the same user are looked at; the kernel refuses others.
//
// Threading: one thread at a time. Cost of find(): one look at each descriptor of each process of the
// user (some milliseconds with a few hundred processes).
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "live/announcements.h"
#include "live/page_copy.h"

namespace fathom::live {

class ProcessPages {
 public:
  // `run`: run directory.
  explicit ProcessPages(std::string run, Announcements announcements = {})
      : run_(std::move(run)), announcements_(std::move(announcements)) {}
  ~ProcessPages();
  ProcessPages(const ProcessPages&) = delete;

  // Opens the pages of processes that have come since.
  void find();
  // Only of those that have announced themselves. Cheap.
  void hear();

  // Waits, but not beyond `until`, for a process to announce itself or to end, or for one of `others` to
  // be ready, whose events are filled in. True if a process has ended.
  bool wait(std::chrono::steady_clock::time_point until, std::vector<pollfd>& others);

  struct Process {
    std::int64_t pid = 0;
    std::uint64_t started = 0;
    int descriptor = -1;
    int end = -1;             // pidfd_open(2): readable when it has ended; -1: that is known
    bool is_settled = false;  // it has gone, and its counts are where they belong
  };
  // In the order in which they were found; those that have ended too.
  const std::vector<Process>& processes() const { return processes_; }
  void settle(std::size_t number) { processes_[number].is_settled = true; }

 private:
  bool is_this_run(const std::string& directory) const;
  bool is_known(std::int64_t pid, std::uint64_t started) const;
  void keep(std::int64_t pid, std::uint64_t started, int descriptor);
  void look_at(const std::string& process);

  std::string run_;
  Announcements announcements_;
  std::vector<Process> processes_;
};

}  // namespace fathom::live

// SPDX-License-Identifier: BSD-3-Clause
// The pages of a run's processes on this machine, found through /proc.
//
// An open page outlives its process, even after SIGKILL: whoever has it open can still read what the
// process had counted. Only processes of the same user are looked at; the kernel refuses others.
//
// Threading: one thread at a time. Cost of find(): one look at each descriptor of each process of the
// user (some milliseconds with a few hundred processes).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "live/page_copy.h"

namespace fathom::live {

class ProcessPages {
 public:
  // `run`: run directory.
  explicit ProcessPages(std::string run) : run_(std::move(run)) {}
  ~ProcessPages();
  ProcessPages(const ProcessPages&) = delete;

  // Opens the pages of processes that have come since.
  void find();

  struct Process {
    std::int64_t pid = 0;
    std::uint64_t started = 0;
    int descriptor = -1;
  };
  // In the order in which they were found; those that have ended too.
  const std::vector<Process>& processes() const { return processes_; }

 private:
  bool is_this_run(const std::string& directory) const;
  void look_at(const std::string& process);

  std::string run_;
  std::vector<Process> processes_;
};

}  // namespace fathom::live

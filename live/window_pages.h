// SPDX-License-Identifier: BSD-3-Clause
// Asks the processes of a run on this machine for a trace of the next seconds, through the pages that
// they share (trace/format/window_request.h).
//
// Pages are found through /proc, as those of live/process_pages.h are; only processes of the same user
// are looked at. A page is written to under its lock, so several readers may ask at once: all but the
// first find that it has been asked. A process that is stopped or that makes no MPI call is never
// waited for.
//
// Threading: one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/format/window_request.h"

namespace fathom::live {

// RUN/.window, which asks the ranks on all hosts.
struct WindowRequest {
  std::uint32_t number = 0;  // of RUN/snap-N
  std::uint64_t for_ns = 0;
};
std::string text_of(const WindowRequest& request);
// Nothing if there is none, or if it makes no sense.
std::optional<WindowRequest> window_request_in(const std::string& run);

class WindowPages {
 public:
  explicit WindowPages(std::string run) : run_(std::move(run)) {}
  ~WindowPages();
  WindowPages(const WindowPages&) = delete;

  // Looks for processes that have come since. How many can be asked.
  std::size_t find();

  // Each process that can be asked is to record from its next call on, for so long at most.
  void ask(const WindowRequest& request);
  // The time is over: those that record end, and those that have not begun do not begin any more.
  void withdraw(std::uint32_t number);

  enum class Answer { kNone, kRecords, kEnded, kFailed };
  struct Process {
    std::uint32_t pid = 0, job = 0, rank = 0, world_size = 0;
    Answer answer = Answer::kNone;
    int error = 0;  // errno, of kFailed
  };
  // Whether they have begun and ended this window.
  std::vector<Process> answers(std::uint32_t number) const;

 private:
  struct Page {
    std::uint32_t pid;
    int descriptor;
    trace::WindowPage* shared;
  };
  bool is_this_run(const char* directory) const;
  void look_at(const std::string& process);

  std::string run_;
  std::vector<Page> pages_;
};

// For the process that looks at a run's host once a second: passes RUN/.window on to the processes there.
class WindowForwarder {
 public:
  explicit WindowForwarder(std::string run) : pages_(run), run_(std::move(run)) {}
  void look();

 private:
  WindowPages pages_;
  std::string run_;
  std::uint32_t last_ = 0;
  std::uint64_t until_ns_ = 0;  // CLOCK_MONOTONIC; 0: nobody records
};

}  // namespace fathom::live

// SPDX-License-Identifier: BSD-3-Clause
// One run that is looked at: loaded once, when first asked for, and then shared by all questions.
//
// Threading: any thread may ask. The analyses work on the run one at a time, because they share the joined
// trace and keep notes in it; what only reads the trace needs no lock.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "analysis/load_run.h"
#include "analysis/run.h"
#include "analysis/scope/trace_span.h"
#include "trace/code/call_site_names.h"
#include "view/answers/calls_in_window.h"
#include "view/answers/live_history.h"
#include "view/tools.h"

namespace fathom::view {

class Pyramid;

class ViewedRun {
 public:
  ViewedRun(std::string path, const Tools& tools);
  ~ViewedRun();

  const std::string& path() const { return path_; }
  std::string name() const;
  // Where the viewer keeps what it computes, and saved views: RUN/view. Made by kept_folder().
  std::string folder() const;
  base::Result<std::string> kept_folder() const;

  RunMark mark() const { return tools_.mark(path_); }

  // An Error while the job runs. After that, the Error of the first attempt stays: the run is not read again
  // and again.
  base::Result<analysis::LoadedRun*> loaded();

  // The named analyses of a part of the run, or those that run by default; as `fathom analyze`. The caller
  // holds lock_joined().
  // `causes`: as Input::causes.
  base::Result<analysis::Results> analyse(const std::vector<std::string>& names,
                                          const analysis::Scope& scope, bool causes = true);

  // From the run's trace; the first question costs a pass over it.
  const CallsInWindow& calls(const trace::Trace& trace);

  // Where the trace's calls were made: all places, with the same numbers for every question. The caller holds
  // lock_joined(). The first question looks the places up.
  trace::CallSiteNames& sites(const analysis::JoinedJob& job);

  // From now on takes samples of the job, if it runs and can be read.
  void watch();
  // nullptr: it is not watched.
  const LiveHistory* live() const { return live_.get(); }

  // The program's part of a traced run (analysis/scope/trace_span.h), which shares of time are of.
  analysis::TraceSpan program_span();

  // Begun when first asked for. nullptr: the run cannot be loaded, or has no trace.
  Pyramid* pyramid();

  // Before a process ends at once: leaves no file half written.
  void abandon();

  // Held while an analysis works, or anything else that uses the joined trace.
  std::timed_mutex& joined_mutex() { return joined_mutex_; }
  // Waits a second for it at most, so that questions do not take all threads of the server. Without it, the
  // answer is busy().
  std::unique_lock<std::timed_mutex> lock_joined();

 private:
  const std::string path_;
  const Tools& tools_;
  std::mutex loading_;
  std::timed_mutex joined_mutex_;
  std::mutex calls_mutex_;
  std::unique_ptr<CallsInWindow> calls_;
  std::unique_ptr<trace::CallSiteNames> sites_;
  std::unique_ptr<LiveHistory> live_;
  std::optional<base::Result<analysis::LoadedRun>> run_;
  bool was_running_ = false;  // when it was last tried
  std::optional<analysis::TraceSpan> program_;
  std::unique_ptr<Pyramid> pyramid_;
};

}  // namespace fathom::view

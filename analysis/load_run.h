// SPDX-License-Identifier: BSD-3-Clause
// Loads what a run has to analyse: its profile, its trace, or both.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "analysis/calls/call_rows.h"
#include "analysis/engine/lazy_job.h"
#include "analysis/scope/input.h"
#include "base/result.h"

namespace fathom::analysis {

struct LoadedRun {
  std::optional<profile::Profile> profile;  // of the scope
  std::unique_ptr<trace::Trace> trace;
  std::unique_ptr<LazyJob> job;  // of the trace
  std::unique_ptr<CallRowsKept> calls = std::make_unique<CallRowsKept>();
  Scope scope;

  Input input(const Thresholds& thresholds) const {
    return {profile ? &*profile : nullptr, trace.get(), job.get(), scope, thresholds, calls.get()};
  }
};

// `profile_path` or `run_directory` may be empty or contain nothing. Without a profile, or for a
// time window, the profile is computed from the trace; otherwise its call sites are named. A window without a trace, or outside it, is
// an Error. `transport` connects the processes that analyse together and must outlive the run;
// null: this process alone.
base::Result<LoadedRun> load_run(const std::string& profile_path, const std::string& run_directory,
                                 const Scope& scope, Transport* transport = nullptr);

// The profile of a part of a run that was loaded whole, as load_run() has it for this scope: for programs
// that ask for many parts of one run. The same Errors.
base::Result<profile::Profile> profile_of_part(const LoadedRun& whole, const Scope& scope);

}  // namespace fathom::analysis

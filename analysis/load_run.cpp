// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/load_run.h"

#include <cstdio>
#include <filesystem>

#include "analysis/scope/profile_of_trace.h"
#include "analysis/scope/profile_scope.h"
#include "analysis/scope/trace_span.h"
#include "base/seconds.h"
#include "profile/reader.h"
#include "trace/code/named_call_sites.h"

namespace fathom::analysis {
namespace {

base::Status load_parts(const std::string& profile_path, const std::string& run_directory,
                        Transport* transport, LoadedRun& run) {
  std::error_code ignored;
  if (!run_directory.empty() && std::filesystem::exists(run_directory + "/trace", ignored)) {
    auto trace = trace::Trace::open(run_directory);
    if (!trace) return trace.error();
    run.trace = std::make_unique<trace::Trace>(std::move(*trace));
    run.job = std::make_unique<LazyJob>(*run.trace, transport);
  }
  // A profile has no times, so for a time window load_run() computes one from the trace.
  if (!profile_path.empty() && run.scope.whole_time()) {
    auto profile = profile::load_profile(profile_path);
    if (!profile) return profile.error();
    run.profile = std::move(*profile);
    trace::name_call_sites(run.profile->call_sites);
  }
  return base::Done{};
}

base::Status check_window(const trace::Definitions& definitions, const Scope& scope) {
  if (scope.from_ns >= scope.to_ns) return base::Error{"the window of time ends before it begins"};
  const TraceSpan span = recorded_span(definitions);
  if (scope.from_ns <= span.to_ns && scope.to_ns > span.from_ns) return base::Done{};
  char text[96];
  std::snprintf(text, sizeof text,
                "nothing happened in that window of time; the trace goes from %.3f s to %.3f s",
                base::seconds(span.from_ns), base::seconds(span.to_ns));
  return base::Error{text};
}

}  // namespace

base::Result<profile::Profile> profile_of_part(const LoadedRun& whole, const Scope& scope) {
  if (scope.whole_time()) return restrict_profile(*whole.profile, scope);
  if (!whole.trace)
    return base::Error{
        "a profile holds no times; a window of time needs a trace (fathom run --trace)"};
  if (auto fine = check_window(whole.trace->definitions(), scope); !fine) return fine.error();
  return restrict_profile(profile_of_trace(*whole.trace, scope), scope, Sizes::kOfChosenRanks);
}

base::Result<LoadedRun> load_run(const std::string& profile_path, const std::string& run_directory,
                                 const Scope& scope, Transport* transport) {
  LoadedRun run;
  run.scope = scope;
  if (auto loaded = load_parts(profile_path, run_directory, transport, run); !loaded)
    return loaded.error();
  if (run.trace && !scope.whole_time()) {
    if (auto fine = check_window(run.trace->definitions(), scope); !fine) return fine.error();
  }
  Sizes sizes = Sizes::kOfAllRanks;
  if (!run.profile && run.trace) {
    run.profile = profile_of_trace(*run.trace, scope);
    sizes = Sizes::kOfChosenRanks;
  }
  if (!run.profile) {
    return base::Error{
        "a profile holds no times; a window of time needs a trace (fathom run --trace)"};
  }
  auto restricted = restrict_profile(std::move(*run.profile), scope, sizes);
  if (!restricted) return restricted.error();
  run.profile = std::move(*restricted);
  return run;
}

}  // namespace fathom::analysis

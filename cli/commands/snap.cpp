// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/snap.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/seconds.h"
#include "cli/commands/trace_window.h"
#include "cli/language/command_line.h"
#include "cli/language/options.h"
#include "cli/language/shell_words.h"
#include "cli/runs/run_state.h"
#include "cli/runs/snapshot.h"
#include "cli/terminal/units.h"

namespace fathom::cli {
namespace {

struct SnapOptions {
  std::string run;
  std::optional<std::uint64_t> for_ns;
};

// "rank 2", "ranks 0-3, 7"
std::string ranks_named(const std::vector<std::int64_t>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s",
                     ranks_text({ranks.begin(), ranks.end()}));
}

void tell_where(const std::string& what, std::size_t processes, const std::string& folder,
                const std::string& missing) {
  std::fprintf(stderr, "fathom: %s of %zu rank%s are in %s/trace%s; next: %s\n", what.c_str(),
               processes, processes == 1 ? "" : "s", folder.c_str(), missing.c_str(),
               ("fathom analyze " + shell_word(folder)).c_str());
}

void tell_about_window(const TraceWindow& window, std::uint64_t for_ns) {
  std::string missing;
  if (!window.none.empty()) {
    missing = fmt::format(
        "; {} recorded nothing: no MPI call in that time, or a host without fathom run, fathom "
        "watch-host or a sampler of fathom run --live",
        ranks_named(window.none));
  }
  if (!window.failure.empty()) missing += "; " + window.failure;
  tell_where(human_seconds(base::seconds(for_ns)), window.processes, window.folder, missing);
}

std::string why_nothing(const TraceWindow& window) {
  if (!window.failure.empty())
    return fmt::format("no rank of '{}' could record: {}", window.job, window.failure);
  if (!window.was_asked)
    return fmt::format(
        "cannot ask any rank of '{}': it runs on other hosts without --live, or began MPI with a "
        "session",
        window.job);
  return fmt::format(
      "no rank of '{0}' made an MPI call in that time, so there was nothing to record; fathom top "
      "{0} --why says what they do",
      window.job);
}

// Nothing if no process could be asked.
std::optional<int> snap_window(const std::vector<std::string>& jobs, std::uint64_t for_ns) {
  const auto windows = record_windows(jobs, for_ns);
  if (!windows) return fail(kFailed, "snap", windows.error().message);
  const bool any =
      std::ranges::any_of(*windows, [](const TraceWindow& window) { return window.processes > 0; });
  if (!any && std::ranges::none_of(*windows, &TraceWindow::was_asked)) return std::nullopt;
  int code = any ? kFine : kFailed;
  for (const TraceWindow& window : *windows) {
    if (window.processes > 0) {
      tell_about_window(window, for_ns);
    } else {
      fail(kFailed, "snap", why_nothing(window));
    }
  }
  return code;
}

int snap(const SnapOptions& options) {
  const auto jobs = running_jobs(options.run);
  if (!jobs) return fail(kFailed, "snap", jobs.error().message);
  std::uint64_t for_ns = options.for_ns.value_or(0);
  // Without waiting for others: the recorder of a flight forgets what is older.
  const bool keeps = state_of(options.run).what.find(kKeepsTheLast) != std::string::npos;
  if (for_ns > 0 && !keeps) {
    if (const auto code = snap_window(*jobs, for_ns)) return *code;
    for_ns = 0;  // a flight recorder has kept what happened meanwhile
  } else if (!options.for_ns && std::ranges::any_of(*jobs, can_be_asked)) {
    return fail(
        kFailed, "snap",
        fmt::format("the job of '{0}' runs without a flight recorder (fathom run --flight 16M), so "
                    "its last events were not kept; fathom snap {0} --for 5s records the next ones",
                    options.run));
  }
  const auto snapshots = take_snapshots(*jobs, for_ns);
  if (!snapshots) return fail(kFailed, "snap", snapshots.error().message);
  for (const Snapshot& snapshot : *snapshots) {
    if (snapshot.processes == 0) {
      fail(kFailed, "snap", fmt::format("no process of '{}' answered", snapshot.job));
      continue;
    }
    tell_where("the last events", snapshot.processes, snapshot.folder,
               snapshot.missing == 0 ? "" : fmt::format(" ({} left no events)", snapshot.missing));
  }
  return kFine;
}

}  // namespace

Action declare_snap(CLI::App& app) {
  auto options = std::make_shared<SnapOptions>();
  app.add_option("RUN", options->run, "run directory of a job that runs")
      ->required()
      ->type_name("");
  add_time(app, "--for", options->for_ns, "record this long from now on, and take that");
  return [options] { return snap(*options); };
}

}  // namespace fathom::cli

// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/snap.h"

#include <spdlog/fmt/fmt.h>

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

int tell_about_window(const TraceWindow& window, std::uint64_t for_ns) {
  std::string missing;
  if (!window.none.empty()) {
    missing = fmt::format(
        "; {} left none: no MPI call meanwhile, or on a host where neither fathom "
        "run --live nor a sampler nor fathom watch-host runs",
        ranks_named(window.none));
  }
  if (!window.failure.empty()) missing += "; " + window.failure;
  std::fprintf(stderr, "fathom: %s of %zu rank%s are in %s/trace%s; next: %s\n",
               human_seconds(base::seconds(for_ns)).c_str(), window.processes,
               window.processes == 1 ? "" : "s", window.folder.c_str(), missing.c_str(),
               ("fathom analyze " + shell_word(window.folder)).c_str());
  return kFine;
}

int snap(SnapOptions options) {
  if (options.for_ns) {
    const auto window = record_window(options.run, *options.for_ns);
    if (!window) return fail(kFailed, "snap", window.error().message);
    if (*window) return tell_about_window(**window, *options.for_ns);
    options.for_ns = 0;  // a flight recorder has kept what happened meanwhile
  } else if (can_be_asked(options.run)) {
    return fail(
        kFailed, "snap",
        fmt::format("the job of '{0}' has no flight recorder (fathom run --flight 16M), which "
                    "alone keeps what has happened; fathom snap {0} --for 5s records what "
                    "happens next",
                    options.run));
  }
  const auto snapshot = take_snapshot(options.run, options.for_ns.value_or(0));
  if (!snapshot) return fail(kFailed, "snap", snapshot.error().message);
  const std::string missing =
      snapshot->missing == 0 ? "" : fmt::format(" ({} left none)", snapshot->missing);
  std::fprintf(stderr, "fathom: the last events of %zu rank%s%s are in %s/trace; next: %s\n",
               snapshot->processes, snapshot->processes == 1 ? "" : "s", missing.c_str(),
               snapshot->folder.c_str(),
               ("fathom analyze " + shell_word(snapshot->folder)).c_str());
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

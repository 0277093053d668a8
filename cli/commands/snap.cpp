// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/snap.h"

#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "cli/language/command_line.h"
#include "cli/language/options.h"
#include "cli/language/shell_words.h"
#include "cli/runs/snapshot.h"

namespace fathom::cli {
namespace {

struct SnapOptions {
  std::string run;
  std::optional<std::uint64_t> for_ns;
};

int snap(const SnapOptions& options) {
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
  app.add_option("RUN", options->run, "run directory of a job that runs with --flight")
      ->required()
      ->type_name("");
  add_time(app, "--for", options->for_ns, "wait this long first, and take what happened meanwhile");
  return [options] { return snap(*options); };
}

}  // namespace fathom::cli

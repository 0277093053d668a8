// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/report.h"

#include <cstdio>
#include <memory>
#include <optional>

#include "cli/language/command_line.h"
#include "cli/pages/report_json.h"
#include "cli/pages/report_page.h"
#include "cli/pages/run_summary.h"
#include "cli/runs/run_directory.h"

namespace fathom::cli {
namespace {

struct ReportOptions {
  std::string run;
  std::optional<std::string> class_name;
  std::size_t top = 5;
  bool json = false;
};

int report(const ReportOptions& options) {
  const auto path = profile_of(options.run);
  if (!path) return fail(kFailed, "report", path.error().message);
  const auto summary = summarise(*path, options.class_name, options.top);
  if (!summary) return fail(kFailed, "report", summary.error().message);
  const std::string text =
      options.json ? report_json(*summary) : report_text(*summary, Terminal::of_stdout());
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? kFine : fail(kFailed, "report", "cannot write to stdout; is the disk full?");
}

}  // namespace

Action declare_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("RUN", options->run, "run directory or profile.json")->required()->type_name("");
  app.add_option("--class", options->class_name,
                 "only traffic of this class, such as MPI_Allreduce")
      ->type_name("CLASS");
  app.add_option("--top", options->top, "how many pairs and ranks to list")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000).description(""))
      ->capture_default_str();
  app.add_flag("--json", options->json, "the same figures for programs");
  return [options] { return report(*options); };
}

}  // namespace fathom::cli

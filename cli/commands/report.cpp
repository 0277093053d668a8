// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/report.h"

#include <memory>
#include <optional>

#include "cli/language/command_line.h"
#include "cli/language/result_output.h"
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
  ResultOutput output;
};

int report(const ReportOptions& options) {
  if (const auto checked = check(options.output); !checked)
    return fail(kWrongUsage, "report", checked.error().message);
  const auto path = profile_of(options.run);
  if (!path) return fail(kFailed, "report", path.error().message);
  const auto summary = summarise(*path, options.class_name, options.top);
  if (!summary) return fail(kFailed, "report", summary.error().message);
  const std::string text = options.output.wants_json()
                               ? report_json(*summary)
                               : report_text(*summary, Terminal::of(options.output.path));
  return deliver(options.output, "report", text);
}

}  // namespace

Action declare_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("RUN", options->run, "run directory or profile.json")->required()->type_name("");
  app.add_option("--class", options->class_name,
                 "only traffic of this class, such as MPI_Allreduce")
      ->type_name("CLASS");
  app.add_option("--top", options->top, "number of pairs and ranks to list")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000).description(""))
      ->capture_default_str();
  add_result_output(app, options->output);
  return [options] { return report(*options); };
}

}  // namespace fathom::cli

// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/view_tools.h"

#include "cli/commands/report.h"
#include "cli/language/options.h"
#include "cli/runs/named_run.h"
#include "cli/runs/run_state.h"

namespace fathom::cli {
namespace {

view::RunMark mark_of(const std::string& run) {
  const RunState state = state_of(run);
  view::RunMark mark;
  mark.state = name_of(state.progress);
  if (state.progress != Progress::kEnded) mark.sentence = sentence_of(state);
  return mark;
}

}  // namespace

view::Tools view_tools() {
  view::Tools tools;
  tools.load = [](const std::string& run, const analysis::Scope& scope) {
    return load_named_run(run, scope);
  };
  tools.report = report_document;
  tools.mark = mark_of;
  tools.ranks = parse_ranks;
  return tools;
}

}  // namespace fathom::cli

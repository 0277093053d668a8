// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/view_tools.h"

#include "cli/commands/report.h"
#include "cli/commands/top/job_source.h"
#include "cli/language/options.h"
#include "cli/runs/named_run.h"
#include "cli/runs/run_state.h"
#include "view/answers/live_history.h"

namespace fathom::cli {
namespace {

view::RunMark mark_of(const std::string& run) {
  const RunState state = state_of(run);
  view::RunMark mark;
  mark.state = name_of(state.progress);
  if (state.progress != Progress::kEnded) mark.sentence = sentence_of(state);
  return mark;
}

// The source outlives the question that opened it.
base::Result<view::LiveHistory::Read> live_reader(const std::string& run) {
  auto opened = open_job(run);
  if (!opened) return opened.error();
  const std::shared_ptr<JobSource> source = std::move(*opened);
  return view::LiveHistory::Read([source] { return source->read(); });
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
  tools.live = live_reader;
  return tools;
}

}  // namespace fathom::cli

// SPDX-License-Identifier: BSD-3-Clause
// fathom trace slice and fathom trace filter: copy a part of a trace to a new run. What the program's call sites are
// called goes with it, because a part is often kept, or handed on, longer than the program stays as it was.
#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <memory>

#include "cli/commands/trace/trace.h"
#include "cli/language/command_line.h"
#include "cli/language/event_selection.h"
#include "cli/runs/run_directory.h"
#include "cli/runs/used_sites.h"
#include "cli/terminal/units.h"
#include "trace/writer.h"

namespace fathom::cli {
namespace {

struct CutOptions {
  std::string run;
  EventChoice choice;
  std::string output;
  bool force = false;
};

trace::Definitions with_processes(const trace::Definitions& all,
                                  const std::vector<std::size_t>& processes) {
  trace::Definitions definitions = all;
  definitions.processes.clear();
  for (const std::size_t process : processes)
    definitions.processes.push_back(all.processes[process]);
  return definitions;
}

int cut(const CutOptions& options, const std::string& who) {
  const auto trace = trace::Trace::open(options.run);
  if (!trace) return fail(kFailed, who, trace.error().message);
  const auto chosen = choose(options.choice, trace->definitions());
  if (!chosen) return fail(kWrongUsage, who, chosen.error().message);
  const auto directory = RunDirectory::create(options.output, options.force);
  if (!directory) return fail(kWrongUsage, who, directory.error().message);
  trace::Definitions definitions = with_processes(trace->definitions(), chosen->processes);
  for (std::string& what : described(options.choice))
    definitions.selection.push_back(std::move(what));
  auto writer = trace::TraceWriter::create(directory->path(), definitions);
  if (!writer) return fail(kFailed, who, writer.error().message);
  std::uint64_t kept = 0;
  UsedSites sites(trace->definitions());
  for (std::size_t i = 0; i < chosen->processes.size(); ++i) {
    trace::EventCursor cursor = trace->events(chosen->processes[i]);
    if (chosen->may_seek()) cursor.seek(chosen->selection.from_ns);
    trace::EventFilter filter(chosen->selection);
    for (trace::Event event; cursor.next(event) && event.time_ns < chosen->selection.to_ns;) {
      if (!filter.admits(event)) continue;
      writer->append(i, event);
      sites.use(chosen->processes[i], event.site);
      ++kept;
    }
    writer->name_sites(i, sites.take());
    for (const std::string& problem : cursor.problems()) fail(kFine, who, problem);
  }
  const auto finished = writer->finish();
  if (!finished) return fail(kFailed, who, finished.error().message);
  std::fprintf(stderr, "fathom: %s events of %zu processes in %s/trace\n", grouped(kept).c_str(),
               chosen->processes.size(), directory->shown().c_str());
  return kFine;
}

void add_output(CLI::App& app, CutOptions& options) {
  app.add_option("RUN", options.run, "run directory with a trace")->required()->type_name("");
  app.add_option("-o,--output", options.output, "run directory to create")
      ->required()
      ->type_name("RUN");
  app.add_flag("--force", options.force, "replace the run that the output directory holds");
}

}  // namespace

Action declare_trace_slice(CLI::App& app) {
  auto options = std::make_shared<CutOptions>();
  add_output(app, *options);
  add_window(app, options->choice.window);
  return [options] {
    if (options->choice.window.whole()) {
      return fail(kWrongUsage, "trace slice", "give a window with --from, --to or both");
    }
    return cut(*options, "trace slice");
  };
}

Action declare_trace_filter(CLI::App& app) {
  auto options = std::make_shared<CutOptions>();
  add_output(app, *options);
  add_window(app, options->choice.window);
  add_content_options(app, options->choice);
  return [options] { return cut(*options, "trace filter"); };
}

}  // namespace fathom::cli

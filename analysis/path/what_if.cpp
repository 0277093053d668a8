// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/path/what_if.h"

#include <algorithm>

#include "analysis/engine/lazy_job.h"
#include "analysis/path/changed_run.h"
#include "analysis/scope/known_time.h"
#include "base/seconds.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

void lay_out(const ChangedRun& run, const trace::Definitions& definitions, bool whole,
             Section& section) {
  std::uint64_t begin_ns = ~std::uint64_t{0}, end_ns = 0, changed_end_ns = 0;
  std::uint64_t part_ns = 0, changed_part_ns = 0;
  for (const ChangedTime& time : run.processes) {
    begin_ns = std::min(begin_ns, time.begin_ns);
    end_ns = std::max(end_ns, time.end_ns);
    changed_end_ns = std::max(changed_end_ns, time.changed_end_ns);
    part_ns = std::max(part_ns, time.part_ns);
    changed_part_ns = std::max(changed_part_ns, time.changed_part_ns);
  }
  const std::uint64_t run_ns = end_ns - std::min(begin_ns, end_ns),
                      changed_ns = changed_end_ns - std::min(begin_ns, changed_end_ns);
  section.figure("run_seconds", base::seconds(run_ns));
  section.figure("what_if_seconds", base::seconds(changed_ns));
  section.figure("run_ns", run_ns);
  section.figure("what_if_ns", changed_ns);
  if (!whole) {
    section.figure("part_seconds", base::seconds(part_ns));
    section.figure("what_if_part_seconds", base::seconds(changed_part_ns));
  }
  Table& table = section.table("what_if");
  add_column(table, "rank", run.processes,
             [&](const ChangedTime& time) { return definitions.processes[time.process].rank; });
  add_column(table, "end_s", run.processes,
             [](const ChangedTime& time) { return base::seconds(time.end_ns); });
  add_column(table, "what_if_end_s", run.processes,
             [](const ChangedTime& time) { return base::seconds(time.changed_end_ns); });
  if (whole) return;
  add_column(table, "part_seconds", run.processes,
             [](const ChangedTime& time) { return base::seconds(time.part_ns); });
  add_column(table, "what_if_part_seconds", run.processes,
             [](const ChangedTime& time) { return base::seconds(time.changed_part_ns); });
}

}  // namespace

base::Result<Outcome> what_if(const Input& input) {
  auto joined = input.job->joined();
  if (!joined) return joined.error();
  Outcome outcome;
  Section& section = outcome.section;
  const KnownTime known = known_time((*joined)->definitions(), (*joined)->gaps());
  // Calls that the trace lacks would be replayed as work, so nothing is predicted from such a trace.
  if (!known.computing || !known.waits || !known.ranks) {
    section.figure("not_given", known.not_given("run time that would have been"));
    return outcome;
  }
  const auto run = changed_run(**joined, input.changes, input.scope);
  if (!run) return run.error();
  std::string changes;
  for (const SupposedChange& change : input.changes) base::add_to_list(changes, change.text, "; ");
  section.figure("changes", changes);
  lay_out(*run, (*joined)->definitions(), input.scope.whole(), section);
  if (run->released > 0)
    outcome.limits.push_back(std::to_string(run->released) +
                             " dependences are missing from the changed run, because their other "
                             "end is not in the trace; the predicted run time may be too short");
  return outcome;
}

}  // namespace fathom::analysis

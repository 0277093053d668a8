// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/waits/wait_states.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

#include "analysis/engine/lazy_job.h"
#include "analysis/scope/known_time.h"
#include "analysis/scope/scope_filter.h"
#include "analysis/scope/trace_span.h"
#include "analysis/waits/job_causes.h"
#include "analysis/waits/profile_waits.h"
#include "analysis/waits/wait_findings.h"
#include "analysis/waits/wait_steps.h"
#include "base/seconds.h"
#include "base/text.h"
#include "trace/code/call_site_names.h"

namespace fathom::analysis {
namespace {

std::string time_text(std::uint64_t ns) { return base::duration_text(base::seconds(ns)); }

std::string phase_name(const trace::Definitions& definitions, std::uint32_t phase) {
  return phase < definitions.phases.size() ? definitions.phases[phase] : "";
}

class WaitFindings {
 public:
  WaitFindings(const Input& input, const JoinedJob& job)
      : input_(input),
        job_(job),
        names_(job.definitions()),
        all_ns_(all_ranks_ns(input.job->programs(), job.definitions(), input.scope)) {}

  void tell(const JobWaits& waits, Outcome& outcome) {
    lay_out_waits(waits, outcome.section);
    lay_out_origins(waits, outcome.section);
    if (input_.causes) outcome.findings = cause_findings(input_, job_, waits, names_, all_ns_);
    outcome.section.figure("seconds_in_findings", seconds_in(outcome.findings));
    limits(waits, outcome);
  }

 private:
  const trace::Definitions& definitions() const { return job_.definitions(); }
  std::int64_t rank(std::uint32_t process) const { return definitions().processes[process].rank; }

  void lay_out_waits(const JobWaits& waits, Section& section) {
    std::uint64_t all = 0;
    std::map<WaitKind, std::uint64_t> by_kind;
    for (const WaitRow& row : waits.rows) {
      all += row.ns;
      by_kind[row.kind] += row.ns;
    }
    section.figure("wait_seconds", base::seconds(all));
    if (known_time(definitions(), job_.gaps()).waits) {
      // Waits in MPI_Init lie before the span that shares are of, so they would make shares above 1 possible.
      const auto start = by_kind.find(WaitKind::kInit);  // before the span
      const std::uint64_t counted = all - (start == by_kind.end() ? 0 : start->second);
      section.figure("wait_share", all_ns_ > 0
                                       ? static_cast<double>(counted) / static_cast<double>(all_ns_)
                                       : 0.0);
    }
    for (const auto& [kind, ns] : by_kind) {
      std::string name = name_of(kind);
      std::replace(name.begin(), name.end(), '-', '_');
      section.figure(name + "_seconds", base::seconds(ns));
    }
    Table& table = section.table("waits");
    const auto site = [&](const WaitRow& row) -> const trace::CodeSite& {
      return names_.of_call(row.process, row.site);
    };
    add_column(table, "kind", waits.rows,
               [](const WaitRow& row) { return std::string(name_of(row.kind)); });
    add_column(table, "rank", waits.rows, [&](const WaitRow& row) { return rank(row.process); });
    add_column(table, "culprit", waits.rows, [&](const WaitRow& row) { return rank(row.culprit); });
    add_column(table, "function", waits.rows,
               [&](const WaitRow& row) { return definitions().functions[row.function].name; });
    add_column(table, "caller", waits.rows, [&](const WaitRow& row) { return site(row).function; });
    add_column(table, "file", waits.rows,
               [&](const WaitRow& row) { return trace::file_or_module(site(row)); });
    add_column(table, "line", waits.rows,
               [&](const WaitRow& row) { return std::int64_t{site(row).line}; });
    add_column(table, "phase", waits.rows,
               [&](const WaitRow& row) { return phase_name(definitions(), row.phase); });
    add_column(table, "seconds", waits.rows,
               [](const WaitRow& row) { return base::seconds(row.ns); });
    add_column(table, "count", waits.rows, [](const WaitRow& row) { return row.count; });
    add_column(table, "worst_seconds", waits.rows,
               [](const WaitRow& row) { return base::seconds(row.worst_ns); });
    add_column(table, "worst_at_s", waits.rows,
               [](const WaitRow& row) { return base::seconds(row.worst_at_ns); });
    const auto late_for = [&](const WaitRow& row) -> const trace::CodeSite& {
      return names_.of_call(row.culprit, row.late_for_site);
    };
    add_column(table, "late_for", waits.rows,
               [&](const WaitRow& row) { return called(row.late_for); });
    add_column(table, "late_for_file", waits.rows,
               [&](const WaitRow& row) { return trace::file_or_module(late_for(row)); });
    add_column(table, "late_for_line", waits.rows,
               [&](const WaitRow& row) { return std::int64_t{late_for(row).line}; });
    lay_out_meanwhile(
        waits.rows, [](const WaitRow& row) { return row.culprit; }, table);
  }

  void lay_out_origins(const JobWaits& waits, Section& section) {
    Table& table = section.table("origins");
    const auto site = [&](const OriginRow& row) -> const trace::CodeSite& {
      return names_.of_call(row.process, row.site);
    };
    add_column(table, "rank", waits.origins,
               [&](const OriginRow& row) { return rank(row.process); });
    add_column(table, "before", waits.origins,
               [&](const OriginRow& row) { return definitions().functions[row.function].name; });
    add_column(table, "caller", waits.origins,
               [&](const OriginRow& row) { return site(row).function; });
    add_column(table, "file", waits.origins,
               [&](const OriginRow& row) { return trace::file_or_module(site(row)); });
    add_column(table, "line", waits.origins,
               [&](const OriginRow& row) { return std::int64_t{site(row).line}; });
    add_column(table, "phase", waits.origins,
               [&](const OriginRow& row) { return phase_name(definitions(), row.phase); });
    add_column(table, "direct_seconds", waits.origins,
               [](const OriginRow& row) { return base::seconds(row.direct_ns); });
    add_column(table, "indirect_seconds", waits.origins,
               [](const OriginRow& row) { return base::seconds(row.indirect_ns); });
    add_column(table, "count", waits.origins, [](const OriginRow& row) { return row.count; });
    lay_out_meanwhile(
        waits.origins, [](const OriginRow& row) { return row.process; }, table);
  }

  std::string called(std::uint32_t function) const {
    return function == kNobody ? "" : definitions().functions[function].name;
  }

  // `whose(row)`: the process whose time it is.
  template <typename Row, typename Whose>
  void lay_out_meanwhile(const std::vector<Row>& rows, Whose whose, Table& table) {
    add_column(table, "longest_work_seconds", rows,
               [](const Row& row) { return base::seconds(row.meanwhile.work_ns); });
    add_call_columns(table, "work_after", rows, whose, &LongestStretch::work_after,
                     &LongestStretch::work_after_site);
    add_call_columns(table, "work_before", rows, whose, &LongestStretch::work_before,
                     &LongestStretch::work_before_site);
    add_column(table, "longest_call_seconds", rows,
               [](const Row& row) { return base::seconds(row.meanwhile.call_ns); });
    add_call_columns(table, "longest_call", rows, whose, &LongestStretch::call,
                     &LongestStretch::call_site);
  }
  template <typename Row, typename Whose>
  void add_call_columns(Table& table, const std::string& name, const std::vector<Row>& rows,
                        Whose whose, std::uint32_t LongestStretch::*function,
                        std::uint64_t LongestStretch::*site) {
    const auto place = [&](const Row& row) -> const trace::CodeSite& {
      return names_.of_call(whose(row), row.meanwhile.*site);
    };
    add_column(table, name, rows, [&](const Row& row) { return called(row.meanwhile.*function); });
    add_column(table, name + "_file", rows,
               [&](const Row& row) { return trace::file_or_module(place(row)); });
    add_column(table, name + "_line", rows,
               [&](const Row& row) { return std::int64_t{place(row).line}; });
  }

  void limits(const JobWaits& waits, Outcome& outcome) const {
    const JoinSummary& summary = job_.summary();
    std::uint64_t sends = summary.sends_to_nobody, receives = 0, losses = 0, early_messages = 0,
                  early_collectives = 0, of_unknown_objects = 0, worst_ns = 0;
    for (const ProcessSummary& process : summary.processes) {
      sends += process.unmatched_from;
      receives += process.unmatched_receives;
      losses += process.losses;
      early_messages += process.clock_errors;
      early_collectives += process.early_collectives;
      of_unknown_objects += process.of_unknown_objects;
      worst_ns = std::max(worst_ns, process.worst_clock_error_ns);
    }
    const auto say = [&](std::string sentence) { outcome.limits.push_back(std::move(sentence)); };
    if (receives > 0)
      say(std::to_string(receives) +
          " messages were received whose send is not in the trace; waits for them are left out");
    if (sends > 0)
      say(std::to_string(sends) +
          " messages were sent whose receive is not in the trace; waits for their receivers are "
          "left out");
    if (summary.left_out_parts > 0) {
      say(std::to_string(summary.left_out_parts) +
          " calls of collectives are left out, because other members' calls are not in the trace");
    }
    if (of_unknown_objects > 0)
      say(std::to_string(of_unknown_objects) +
          " calls are left out, on windows and files made before the trace began or for persistent "
          "collectives: it is not known how often others had called before");
    if (losses > 0)
      say("records were lost or recording paused " + std::to_string(losses) +
          " times; messages in flight at these moments may be joined wrongly");
    std::string early;
    if (early_messages > 0)
      early = std::to_string(early_messages) + " messages arrived before they were sent";
    if (early_collectives > 0)
      early += (early.empty() ? "" : ", and ") + std::to_string(early_collectives) +
               " calls of collectives returned before a rank whose data they needed had entered";
    if (!early.empty() && !lacks_durations(definitions()))
      say(early + ", by up to " + time_text(worst_ns) +
          ": clocks differ; shorter waits between hosts are left out");
    if (waits.released > 0)
      say("times in the trace contradict each other: " + std::to_string(waits.released) +
          " times the origin of a delay could not be traced");
    for (const auto& [process, problems] : summary.problems) {
      for (const std::string& problem : problems) say(problem);
    }
  }

  const Input& input_;
  const JoinedJob& job_;
  trace::CallSiteNames names_;
  std::uint64_t all_ns_ = 0;  // of all chosen processes together
};

}  // namespace

base::Result<Outcome> wait_states(const Input& input) {
  if (input.trace == nullptr) return wait_states_of_profile(input);
  auto joined = input.job->joined();
  if (!joined) return joined.error();
  JoinedJob& job = **joined;
  const ScopeFilter filter(input.scope, job.definitions());
  WaitScope scope;
  scope.from_ns = input.scope.from_ns;
  scope.to_ns = input.scope.to_ns;
  scope.processes = &filter.processes();
  scope.phases = filter.phases();
  const JobWaits waits = input.causes ? find_waits(job, scope) : find_direct_waits(job, scope);
  Outcome outcome;
  WaitFindings(input, job).tell(waits, outcome);
  return outcome;
}

}  // namespace fathom::analysis

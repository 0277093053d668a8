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

// Waits reported by one finding: one kind, one place in the program.
struct Group : WaitGroup {
  std::uint64_t worst_at_ns = 0;
  std::vector<const WaitRow*> rows;
};

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
    findings(waits, outcome);
    origin_findings(waits, outcome);
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

  CallPlace place(std::uint32_t process, std::uint32_t function, std::uint64_t address) {
    const trace::CodeSite& site = names_.of_call(process, address);
    return {definitions().functions[function].name, trace::file_or_module(site), site.line};
  }
  // What `process` did longest while others waited for it.
  std::optional<Meanwhile> meanwhile(std::uint32_t process, const LongestStretch& longest) {
    if (longest.work_ns == 0 && longest.call_ns == 0) return {};
    Meanwhile found{
        rank(process), base::seconds(std::max(longest.work_ns, longest.call_ns)), {}, {}, {}};
    if (longest.call_ns > longest.work_ns) {
      found.inside = place(process, longest.call, longest.call_site);
    } else {
      found.after = place(process, longest.work_after, longest.work_after_site);
      found.before = place(process, longest.work_before, longest.work_before_site);
    }
    return found;
  }

  bool is_finding(std::uint64_t ns) const {
    return all_ns_ > 0 &&
           static_cast<double>(ns) >= input_.thresholds.wait_share * static_cast<double>(all_ns_);
  }

  // Lowered by losses of the processes involved.
  double confidence(const Group& group) const {
    const auto& processes = job_.summary().processes;
    for (const WaitRow* row : group.rows) {
      if (processes[row->process].losses > 0 || processes[row->culprit].losses > 0) return 0.5;
    }
    return 1;
  }

  void findings(const JobWaits& waits, Outcome& outcome) {
    using Place = std::tuple<WaitKind, std::uint32_t, std::string, std::string, int, std::uint32_t>;
    std::map<Place, Group> groups;
    for (const WaitRow& row : waits.rows) {
      const trace::CodeSite& site = names_.of_call(row.process, row.site);
      Group& group = groups[{row.kind, row.function, site.function, trace::file_or_module(site),
                             site.line, row.phase}];
      group.rows.push_back(&row);
      group.add(rank(row.process), rank(row.culprit), row.ns, row.count);
      if (row.worst_ns > group.worst_ns)
        std::tie(group.worst_ns, group.worst_at_ns) = std::tie(row.worst_ns, row.worst_at_ns);
    }
    for (const auto& [place, group] : groups) {
      const auto& [kind, function, caller, file, line, phase] = place;
      // The time breakdown says how long start-up took, and who came last.
      if (kind == WaitKind::kInit || !is_finding(group.ns)) continue;
      Where where;
      where.function = definitions().functions[function].name;
      where.caller = caller;
      where.file = file;
      where.line = line;
      where.phase = phase_name(definitions(), phase);
      Finding& finding = outcome.findings.emplace_back(
          finding_of(kind, group, std::move(where), confidence(group), all_ns_));
      finding.windows = {
          {base::seconds(group.worst_at_ns), base::seconds(group.worst_at_ns + group.worst_ns)}};
      if (const WaitRow* worst = worst_for(group, finding.culprits[0]))
        finding.meanwhile = meanwhile(worst->culprit, worst->meanwhile);
      if (was_starting(finding)) finding.advice = kStartUpAdvice;
    }
  }

  // The longest wait for this rank.
  const WaitRow* worst_for(const Group& group, std::int64_t culprit) const {
    const WaitRow* worst = nullptr;
    for (const WaitRow* row : group.rows) {
      if (rank(row->culprit) == culprit && (worst == nullptr || row->worst_ns > worst->worst_ns))
        worst = row;
    }
    return worst;
  }

  // Whether the awaited rank was still in MPI_Init, where no work can be balanced.
  static bool was_starting(const Finding& finding) {
    return finding.meanwhile && finding.meanwhile->inside &&
           mpi::meaning_of(finding.meanwhile->inside->function).begins_job;
  }
  static constexpr char kStartUpAdvice[] =
      "this is start-up: the awaited rank was still in MPI_Init";

  static const char* delay_advice(const Finding& delay) {
    if (was_starting(delay)) return kStartUpAdvice;
    if (!delay.meanwhile)
      return "find out what this rank does before the call to which it came late";
    return delay.meanwhile->inside
               ? "find out what holds it up in that call: the transfer of its messages, or a "
                 "processor that it shares"
               : "give it less work there, or have it first do what the others wait for";
  }

  // The same seconds by cause: the rank at which a delay began that others passed on.
  void origin_findings(const JobWaits& waits, Outcome& outcome) {
    struct Origin {
      std::uint64_t direct_ns = 0, indirect_ns = 0, count = 0;
      const OriginRow* worst = nullptr;
    };
    std::map<std::uint32_t, Origin> origins;
    for (const OriginRow& row : waits.origins) {
      Origin& origin = origins[row.process];
      origin.direct_ns += row.direct_ns;
      origin.indirect_ns += row.indirect_ns;
      origin.count += row.count;
      if (!origin.worst ||
          row.direct_ns + row.indirect_ns > origin.worst->direct_ns + origin.worst->indirect_ns) {
        origin.worst = &row;
      }
    }
    for (const auto& [process, origin] : origins) {
      if (!is_finding(origin.indirect_ns)) continue;
      const trace::CodeSite& site = names_.of_call(process, origin.worst->site);
      Finding& finding = outcome.findings.emplace_back();
      finding.kind = "delay";
      finding.count = origin.count;
      finding.culprits = {rank(process)};
      finding.where.function = definitions().functions[origin.worst->function].name;
      finding.where.caller = site.function;
      finding.where.file = trace::file_or_module(site);
      finding.where.line = site.line;
      finding.where.phase = phase_name(definitions(), origin.worst->phase);
      rate(finding, origin.direct_ns + origin.indirect_ns, all_ns_);
      finding.evidence.push_back({"direct_seconds", base::seconds(origin.direct_ns)});
      finding.evidence.push_back({"indirect_seconds", base::seconds(origin.indirect_ns)});
      finding.summary = "rank " + std::to_string(rank(process)) + " came late, mostly to " +
                        finding.where.function + ": others waited " + time_text(origin.direct_ns) +
                        " for it, and " + time_text(origin.indirect_ns) +
                        " more for ranks that it had delayed. This is not additional time: it is "
                        "the time of the waits, counted for the rank that caused them";
      finding.windows = {{base::seconds(origin.worst->worst_at_ns),
                          base::seconds(origin.worst->worst_at_ns + origin.worst->worst_ns)}};
      finding.meanwhile = meanwhile(process, origin.worst->meanwhile);
      finding.advice = delay_advice(finding);
    }
  }

  void limits(const JobWaits& waits, Outcome& outcome) const {
    const JoinSummary& summary = job_.summary();
    std::uint64_t sends = summary.sends_to_nobody, receives = 0, losses = 0, early_messages = 0,
                  early_collectives = 0, worst_ns = 0;
    for (const ProcessSummary& process : summary.processes) {
      sends += process.unmatched_from;
      receives += process.unmatched_receives;
      losses += process.losses;
      early_messages += process.clock_errors;
      early_collectives += process.early_collectives;
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
    if (losses > 0)
      say("records were lost or recording paused " + std::to_string(losses) +
          " times; messages in flight at these moments may be joined wrongly");
    std::string early;
    if (early_messages > 0)
      early = std::to_string(early_messages) + " messages arrived before they were sent";
    if (early_collectives > 0)
      early += (early.empty() ? "" : ", and ") + std::to_string(early_collectives) +
               " calls of collectives returned before a rank whose data they needed had entered";
    if (!early.empty())
      say(early + ", by up to " + time_text(worst_ns) +
          ": clocks differ; shorter waits between hosts are left out");
    if (waits.released > 0)
      say("times in the trace contradict each other: " + std::to_string(waits.released) +
          " times, the origin of a delay could not be followed");
    for (const std::string& problem : summary.problems) say(problem);
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
  const JobWaits waits = find_waits(job, scope);
  Outcome outcome;
  WaitFindings(input, job).tell(waits, outcome);
  return outcome;
}

}  // namespace fathom::analysis

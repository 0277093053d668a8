// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/pyrite/issues.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

#include "analysis/engine/lazy_job.h"
#include "analysis/pyrite/issue_tables.h"
#include "analysis/results/finding_kinds.h"
#include "analysis/scope/known_time.h"
#include "analysis/scope/trace_span.h"
#include "analysis/time/flat_profile.h"
#include "analysis/traffic/class_traffic.h"
#include "analysis/traffic/traffic_issues.h"
#include "base/seconds.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

std::string text_of(const char* format, double number, double ns) {
  char text[200];
  std::snprintf(text, sizeof text, format, number, base::duration_text(base::seconds(ns)).c_str());
  return text;
}

struct LateKind {
  FindingKind kind;
  std::uint32_t code;
  bool of_messages;  // else about calls of collectives
  const char* summary;
  const char* advice;
};
constexpr LateKind kLateKinds[] = {
    {FindingKind::kLateSender, static_cast<std::uint32_t>(WaitKind::kLateSender), true,
     "%.0f receives waited for a late sender, %s in total",
     "have the sender send earlier, or give it less work before the send"},
    {FindingKind::kLateReceiver, static_cast<std::uint32_t>(WaitKind::kLateReceiver), true,
     "%.0f sends waited for a late receiver, %s in total",
     "post the receive earlier, or use a non-blocking send"},
    {FindingKind::kLateBroadcaster, static_cast<std::uint32_t>(WaitKind::kLateBroadcast), false,
     "ranks waited for the root in %.0f calls of broadcasts, %s in total",
     "have the root broadcast earlier, or use the non-blocking form"},
    {FindingKind::kEarlyReduceArrival, kEarlyArrival, false,
     "in %.0f calls, ranks entered a reduction before its root did, %s earlier in total",
     "balance the work before the reduction"},
};

class IssueFinder {
 public:
  IssueFinder(const Input& input, const std::vector<CallRow>& calls, const IssueReport& report)
      : input_(input),
        limits_(input.thresholds),
        definitions_(input.trace->definitions()),
        calls_(calls),
        report_(report),
        all_ns_(
            static_cast<double>(all_ranks_ns(input.job->programs(), definitions_, input.scope))),
        calls_known_(known_time(definitions_).between) {
    for (const LinkCounts& link : report.counts.links) {
      messages_ += static_cast<double>(link.messages);
      // Hidden messages are the library's, so shares of the program's messages leave them out.
      const bool own = link.message_class < definitions_.class_hidden.size() &&
                       !definitions_.class_hidden[link.message_class];
      if (own) own_messages_ += static_cast<double>(link.messages);
    }
    for (const RankCalls& rank : report.counts.ranks) {
      collectives_ += static_cast<double>(rank.collectives);
      completions_ += static_cast<double>(rank.completions);
    }
  }

  std::vector<Finding> find() {
    if (input_.profile) from_traffic();
    for (const LateKind& kind : kLateKinds) late(kind);
    barrier_skew();
    barrier_imbalance();
    if (calls_known_) completion_overhead();
    rank_findings(found_);
    return std::move(found_);
  }

 private:
  std::int64_t rank(std::uint32_t process) const { return definitions_.processes[process].rank; }

  Finding& add(FindingKind kind, double score, double cost_ns, std::uint64_t count) {
    Finding& finding = found_.emplace_back();
    finding.kind = name_of(kind);
    finding.strength = std::clamp(score, 0.0, 1.0);
    finding.severity = severity_of(finding.strength);
    // What barriers cost is not known if nobody knows how long they were waited for.
    if (!lacks_durations(definitions_)) finding.seconds = base::seconds(cost_ns);
    finding.count = count;
    return finding;
  }

  // The profile's issues, with the time spent in the calls concerned.
  void from_traffic() {
    auto outcome = traffic_issues(input_);
    if (!outcome) return;
    for (Finding& finding : outcome->findings) {
      if (!finding.where.function.empty())
        finding.seconds = base::seconds(time_in(finding.where.function));
      whole_run(finding);
      found_.push_back(std::move(finding));
    }
  }
  double time_in(const std::string& function) const {
    double ns = 0;
    for (const CallRow& row : calls_) {
      if (row.function != kProgram && definitions_.functions[row.function].name == function)
        ns += static_cast<double>(row.exclusive_ns);
    }
    return ns;
  }
  void whole_run(Finding& finding) const {
    finding.windows = {
        {base::seconds(report_.counts.begin_ns), base::seconds(report_.counts.end_ns)}};
  }

  void late(const LateKind& kind) {
    double ns = 0, count = 0;
    std::vector<LateCounts> rows;
    for (const LateCounts& row : report_.counts.late) {
      if (row.kind != kind.code) continue;
      ns += static_cast<double>(row.ns);
      count += static_cast<double>(row.count);
      rows.push_back(row);
    }
    const double of = kind.of_messages ? own_messages_ : collectives_;
    const double share = of > 0 && calls_known_ ? count / of : 0,
                 of_time = all_ns_ > 0 ? ns / all_ns_ : 0;
    if (rows.empty() || (share <= limits_.late_share && of_time < limits_.wait_share)) return;
    Finding& finding =
        add(kind.kind, 4 * std::max(share, of_time), ns, static_cast<std::uint64_t>(count));
    name_ranks(rows, finding);
    finding.evidence = {
        {kind.of_messages ? "fraction_of_traffic" : "fraction_of_collectives", share},
        {"share_of_all_time", of_time}};
    finding.summary = text_of(kind.summary, count, ns);
    finding.advice = kind.advice;
  }

  // The costliest pairs first; culprits and victims in that order; a window around the longest
  // wait of a listed rank in the function that is named.
  void name_ranks(std::vector<LateCounts>& rows, Finding& finding) const {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const LateCounts& a, const LateCounts& b) { return a.ns > b.ns; });
    const auto put = [](std::vector<std::int64_t>& list, std::int64_t rank) {
      if (list.size() < kMostListed && std::find(list.begin(), list.end(), rank) == list.end())
        list.push_back(rank);
    };
    const auto listed = [](const std::vector<std::int64_t>& list, std::int64_t rank) {
      return std::find(list.begin(), list.end(), rank) != list.end();
    };
    const LateCounts* worst = &rows[0];
    for (const LateCounts& row : rows) {
      put(finding.culprits, rank(row.culprit));
      put(finding.victims, rank(row.process));
      const RankPair pair{rank(row.culprit), rank(row.process)};
      if (finding.pairs.size() < kMostListed &&
          std::find(finding.pairs.begin(), finding.pairs.end(), pair) == finding.pairs.end())
        finding.pairs.push_back(pair);
      if (row.worst_ns > worst->worst_ns && row.function == rows[0].function &&
          listed(finding.victims, rank(row.process)))
        worst = &row;
    }
    finding.where.function = definitions_.functions[rows[0].function].name;
    finding.windows = {{base::seconds(worst->worst_at_ns),
                        base::seconds(static_cast<double>(worst->worst_at_ns + worst->worst_ns))}};
  }

  std::vector<LateCounts> barrier_waits(std::uint32_t culprit) const {
    std::vector<LateCounts> rows;
    for (const LateCounts& row : report_.counts.late) {
      if (row.kind == static_cast<std::uint32_t>(WaitKind::kBarrier) &&
          (culprit == kNobody || row.culprit == culprit))
        rows.push_back(row);
    }
    return rows;
  }
  static double sum_ns(const std::vector<LateCounts>& rows) {
    double ns = 0;
    for (const LateCounts& row : rows) ns += static_cast<double>(row.ns);
    return ns;
  }

  void barrier_skew() {
    if (report_.barriers.worst.empty()) return;
    const Barrier& widest = report_.barriers.worst[0];
    const double run_ns = static_cast<double>(report_.counts.end_ns - report_.counts.begin_ns),
                 spread_ns = static_cast<double>(widest.spread_ns());
    const double part = run_ns > 0 ? spread_ns / run_ns : 0;
    if (base::seconds(spread_ns) < limits_.barrier_skew_seconds ||
        part < limits_.barrier_skew_share)
      return;
    std::vector<LateCounts> rows = barrier_waits(kNobody);
    std::uint64_t barriers = 0;
    double all_ns = 0;
    for (const LastAtBarrier& row : report_.barriers.last) {
      barriers += row.count;
      all_ns += static_cast<double>(row.spread_ns);
    }
    Finding& finding = add(FindingKind::kBarrierArrivalSkew, 5 * part, sum_ns(rows), barriers);
    if (!rows.empty()) name_ranks(rows, finding);
    finding.windows.clear();
    for (std::size_t i = 0; i < std::min<std::size_t>(8, report_.barriers.worst.size()); ++i) {
      const Barrier& barrier = report_.barriers.worst[i];
      finding.windows.push_back({base::seconds(barrier.first_ns), base::seconds(barrier.last_ns)});
    }
    finding.where.communicator = widest.communicator;
    finding.evidence = {
        {"max_barrier_spread", base::seconds(spread_ns)},
        {"avg_barrier_spread", base::seconds(all_ns) / static_cast<double>(barriers)},
        {"barrier_instances", barriers}};
    finding.summary = "ranks arrive at a barrier up to " +
                      base::duration_text(base::seconds(spread_ns)) + " apart";
    if (barriers > 1)
      finding.summary +=
          ", " + base::duration_text(base::seconds(all_ns) / static_cast<double>(barriers)) +
          " on average";
    finding.advice =
        "balance the work before the barrier; check whether the program needs the barrier";
  }

  void barrier_imbalance() {
    std::map<std::int32_t, std::uint64_t> counts;
    for (const LastAtBarrier& row : report_.barriers.last) counts[row.communicator] += row.count;
    for (const LastAtBarrier& row : report_.barriers.last) {
      const auto all = static_cast<double>(counts[row.communicator]);
      const double share = static_cast<double>(row.count) / all;
      const auto members =
          static_cast<double>(definitions_.communicators[static_cast<std::size_t>(row.communicator)]
                                  .world_ranks.size());
      if (all < limits_.few_barriers || members < limits_.few_ranks ||
          share < limits_.barrier_last_share)
        continue;
      std::vector<LateCounts> rows = barrier_waits(row.process);
      Finding& finding = add(FindingKind::kBarrierImbalance, share, sum_ns(rows), row.count);
      if (!rows.empty()) name_ranks(rows, finding);
      finding.culprits = {rank(row.process)};
      finding.where.communicator = row.communicator;
      if (finding.windows.empty()) whole_run(finding);
      if (rows.empty()) finding.severity = Severity::kInfo;
      finding.evidence = {{"share_of_barriers", share},
                          {"barriers", static_cast<std::uint64_t>(all)},
                          {"max_barrier_spread", base::seconds(row.most_ns)}};
      finding.summary =
          "rank " + std::to_string(rank(row.process)) +
          text_of(
              " is the last to arrive at %.0f %% of the barriers, %s after the first on average",
              100 * share, static_cast<double>(row.spread_ns) / static_cast<double>(row.count));
      finding.advice = "give this rank less work before the barrier";
    }
  }

  void completion_overhead() {
    const double ratio = messages_ > 0 ? completions_ / messages_ : 0;
    if (ratio < limits_.completion_share || completions_ < limits_.few_messages) return;
    std::map<std::uint32_t, double> by_process;
    double ns = 0;
    for (const CallRow& row : calls_) {
      if (row.function == kProgram ||
          definitions_.functions[row.function].group != trace::Group::kCompletion)
        continue;
      by_process[row.process] += static_cast<double>(row.exclusive_ns);
      ns += static_cast<double>(row.exclusive_ns);
    }
    for (const LateCounts& row : report_.counts.late) {
      const bool there = definitions_.functions[row.function].group == trace::Group::kCompletion &&
                         row.kind != kEarlyArrival;
      if (there) ns -= static_cast<double>(row.ns);
    }
    ns = std::max(ns, 0.0);
    Finding& finding = add(FindingKind::kCompletionOverhead, ratio / 2, ns,
                           static_cast<std::uint64_t>(completions_));
    if (all_ns_ <= 0 || ns < 0.01 * all_ns_) finding.severity = Severity::kInfo;
    std::vector<std::pair<double, std::uint32_t>> order;
    for (const auto& [process, own_ns] : by_process) order.emplace_back(-own_ns, process);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < std::min(order.size(), kMostListed); ++i)
      finding.culprits.push_back(rank(order[i].second));
    whole_run(finding);
    finding.evidence = {{"completions_per_message", ratio},
                        {"messages", static_cast<std::uint64_t>(messages_)}};
    finding.summary =
        text_of("%.2g wait and test calls per message take %s, not counting waits for other ranks",
                ratio, ns);
    finding.advice =
        "complete several requests at once with MPI_Waitall or MPI_Waitsome, and test less often";
  }

  const Input& input_;
  const Thresholds& limits_;
  const trace::Definitions& definitions_;
  const std::vector<CallRow>& calls_;
  const IssueReport& report_;
  const double all_ns_;
  // Whether no calls are missing, so that those of one kind can be compared with those of another.
  const bool calls_known_;
  double messages_ = 0, own_messages_ = 0, collectives_ = 0, completions_ = 0;
  std::vector<Finding> found_;
};

}  // namespace

base::Result<IssueReport> issue_report(const Input& input) {
  const auto calls = call_rows(input);
  if (!calls) return calls.error();
  auto joined = input.job->joined();
  if (!joined) return joined.error();
  auto counts = count_issues(input);
  if (!counts) return counts.error();
  IssueReport report{std::move(*counts), barrier_spread_of(**joined, input.scope), {}, {}};
  if ((*joined)->transport().rank() != 0) return report;
  if (input.profile) report.patterns = find_patterns(*input.profile, input.thresholds);
  report.issues = IssueFinder(input, *calls, report).find();
  return report;
}

base::Result<Outcome> issues(const Input& input) {
  const auto report = issue_report(input);
  if (!report) return report.error();
  Outcome outcome;
  outcome.findings = report->issues;
  lay_out_issues(*report, input.trace->definitions(), outcome.section);
  return outcome;
}

}  // namespace fathom::analysis

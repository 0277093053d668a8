// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/run.h"

#include <algorithm>
#include <set>

#include "analysis/engine/lazy_job.h"
#include "analysis/scope/profile_scope.h"
#include "analysis/scope/trace_span.h"
#include "analysis/time/shared_processors.h"
#include "analysis/trace_limits.h"
#include "base/program_name.h"
#include "base/seconds.h"
#include "profile/summary.h"
#include "profile/wait_summary.h"

namespace fathom::analysis {
namespace {

void describe_run(const Input& input, Results& results) {
  if (input.profile) {
    results.application = base::program_path(input.profile->application.executable,
                                             input.profile->application.arguments);
    results.seconds = input.profile->application.seconds;
    results.ranks = profile::rank_count(*input.profile);
    results.all_ranks_seconds = base::seconds(all_ranks_ns(*input.profile, input.scope));
  }
  if (!input.trace) return;
  const trace::Definitions& definitions = input.trace->definitions();
  if (!input.profile) {
    results.application =
        base::program_path(definitions.application.executable, definitions.application.arguments);
    results.ranks = definitions.world_size;
  }
  results.seconds = base::seconds(span_of(input.job->programs(), definitions, input.scope).ns());
  results.all_ranks_seconds =
      base::seconds(all_ranks_ns(input.job->programs(), definitions, input.scope));
}

// "MPI_COMM_WORLD", or "communicator 3 (MPI_Comm_split)" of one without a name.
std::string shown(const profile::Communicator& communicator) {
  if (!communicator.name.empty()) return communicator.name;
  return "communicator " + std::to_string(communicator.id) +
         (communicator.made_by.empty() ? "" : " (" + communicator.made_by + ")");
}

void name_communicators(const Input& input, Results& results) {
  const auto& known =
      input.trace ? input.trace->definitions().communicators : input.profile->communicators;
  std::set<std::int64_t> named;
  for (const Finding& finding : results.findings) named.insert(finding.where.communicator);
  for (const profile::Communicator& communicator : known) {
    if (named.contains(communicator.id))
      results.communicators[communicator.id] = shown(communicator);
  }
}

void limits_of_profile(const profile::Profile& profile, std::vector<std::string>& limits) {
  const profile::Coverage& coverage = profile.coverage;
  if (coverage.verdict == "differs" || coverage.verdict == "incomplete") {
    limits.push_back("the profile is not exact (" + coverage.verdict +
                     "): shares of traffic are off by as much; see fathom report");
  }
  if (!coverage.not_visible.empty()) {
    limits.push_back("some collectives sent no messages that could be seen; see fathom report");
  }
}

// Restricts a finding to the window.
void clip(Finding& finding, const Scope& scope) {
  const double from_s = base::seconds(scope.from_ns), to_s = base::seconds(scope.to_ns);
  for (TimeWindow& window : finding.windows)
    window = {std::clamp(window.from_s, from_s, to_s), std::clamp(window.to_s, from_s, to_s)};
}

// By what it costs. Where that is not known, nobody can say that it matters.
void rate(Finding& finding, double all_ranks_seconds) {
  finding.severity = finding.seconds && all_ranks_seconds > 0
                         ? severity_of_cost(*finding.seconds / all_ranks_seconds)
                         : Severity::kInfo;
}

void take(Outcome&& outcome, const Row& row, Results& results) {
  results.sections.push_back({row.name, std::move(outcome.section)});
  for (Finding& finding : outcome.findings) {
    finding.analysis = row.name;
    clip(finding, results.scope);
    rate(finding, results.all_ranks_seconds);
    results.findings.push_back(std::move(finding));
  }
  // Several analyses may report the same limit; it is listed once.
  for (std::string& limit : outcome.limits) {
    if (std::find(results.limits.begin(), results.limits.end(), limit) == results.limits.end())
      results.limits.push_back(std::move(limit));
  }
}

}  // namespace

bool can_run(const Row& row, const Input& input) {
  if (row.needs == Needs::kProfile) return input.profile != nullptr;
  if (input.trace != nullptr) return true;
  // As in a trace, calls are not chosen by class or communicator.
  if (row.needs == Needs::kTrace || !input.profile || input.scope.chooses_traffic()) return false;
  if (row.needs == Needs::kTimes) return !input.profile->calls.empty();
  return row.needs == Needs::kWaits ? input.profile->coverage.waits.has_value()
                                    : !input.profile->path.empty();
}

std::string what_is_missing(const Row& row, const Input& input) {
  const std::string name = "'" + std::string(row.name) + "' needs ";
  if (row.needs == Needs::kTrace) return name + "a trace; record one with fathom run --trace";
  const std::string what = row.needs == Needs::kTimes   ? "times of calls"
                           : row.needs == Needs::kWaits ? "its waits"
                                                        : "a critical path";
  const bool timed = input.profile && !input.profile->calls.empty();
  std::string why;
  if (timed) why = profile::why_no_waits(input.profile->coverage);
  if (input.profile && !timed) why = "its calls were not timed";
  return name + "a trace (fathom run --trace), or a profile with " + what +
         (timed ? "" : ", which fathom run leaves unless --no-time is given") +
         (why.empty() ? "" : "; this one has none: " + why);
}

std::vector<const Row*> default_analyses(const Input& input) {
  std::vector<const Row*> rows;
  for (const Row& row : all_analyses()) {
    if (row.by_default && can_run(row, input)) rows.push_back(&row);
  }
  return rows;
}

base::Result<Results> run_analyses(std::span<const Row* const> rows, const Input& input) {
  if (!input.profile && !input.trace)
    return base::Error{"there is neither a profile nor a trace to analyse"};
  const std::int64_t ranks =
      input.profile ? profile::rank_count(*input.profile) : input.trace->definitions().world_size;
  if (ranks > kMostRanks) {
    return base::Error{"the run has " + std::to_string(ranks) + " ranks; at most " +
                       std::to_string(kMostRanks) + " can be analysed"};
  }
  Results results;
  results.phase_share = input.thresholds.phase_share;
  results.scope = input.scope;
  describe_run(input, results);
  if (input.profile) limits_of_profile(*input.profile, results.limits);
  if (input.trace) {
    for (std::string& limit : limits_of_trace(input.trace->definitions()))
      results.limits.push_back(std::move(limit));
  }
  SharedProcessors shared =
      shared_processors(input.profile, input.trace ? &input.trace->definitions() : nullptr);
  results.warnings = std::move(shared.sentences);
  for (const Row* row : rows) {
    if (!can_run(*row, input)) {
      results.skipped.push_back(row->name);
      continue;
    }
    auto outcome = row->run(input);
    if (!outcome) return base::Error{std::string(row->name) + ": " + outcome.error().message};
    take(std::move(*outcome), *row, results);
  }
  // Here and not in the analyses, so that none of them can forget it.
  if (input.trace) {
    const trace::Definitions& definitions = input.trace->definitions();
    const std::set<std::int64_t> incomplete = incomplete_ranks(definitions);
    const std::set<std::int64_t> unsynchronised = unsynchronised_ranks(definitions);
    for (Finding& finding : results.findings) {
      limit_finding(finding, incomplete, "incomplete");
      // Counts need no clock.
      if (finding.seconds || !finding.windows.empty())
        limit_finding(finding, unsynchronised, "clock not synchronised");
    }
  }
  for (Finding& finding : results.findings) limit_finding(finding, shared);
  rank_findings(results.findings);
  name_communicators(input, results);
  return results;
}

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
// The tables of the critical path: written once for a result, where the walk visits every wait.
#include <algorithm>
#include <cmath>

#include "analysis/engine/lazy_job.h"
#include "analysis/path/critical_path.h"
#include "analysis/path/path_metrics.h"
#include "analysis/path/path_slack.h"
#include "analysis/path/profile_path.h"
#include "base/order/sort_stably.h"
#include "base/seconds.h"
#include "trace/code/call_site_names.h"

namespace fathom::analysis {
namespace {

struct Share {
  std::uint64_t ns = 0;
  std::int64_t number = 0;  // rank, communicator
  std::string name;
};

// Time on the path summed by `of(row)`, most first.
template <typename Of>
std::vector<Share> shares(const CriticalPath& path, Of of) {
  std::vector<Share> all;
  for (const PathRow& row : path.rows) {
    Share one = of(row);
    const auto same = std::find_if(all.begin(), all.end(), [&](const Share& other) {
      return other.number == one.number && other.name == one.name;
    });
    (same == all.end() ? all.emplace_back(one) : *same).ns += row.ns;
  }
  base::sort_stably(all, [](const Share& a, const Share& b) { return a.ns > b.ns; });
  return all;
}

void lay_out(const CriticalPath& path, const trace::Definitions& definitions, Section& section) {
  const std::uint64_t length_ns = path.end_ns - path.begin_ns;
  const auto function = [&](std::uint32_t number) {
    return number == kNobody ? std::string("(program)") : definitions.functions[number].name;
  };
  const auto part = [&](const Share& share) {
    return length_ns > 0 ? static_cast<double>(share.ns) / static_cast<double>(length_ns) : 0.0;
  };
  section.figure("path_seconds", base::seconds(length_ns));
  section.figure("changes_of_rank", path.changes);
  const auto table_of = [&](const char* name, const char* key, bool numbered,
                            const std::vector<Share>& rows) {
    Table& table = section.table(name);
    if (numbered) add_column(table, key, rows, [](const Share& row) { return row.number; });
    if (!numbered) add_column(table, key, rows, [](const Share& row) { return row.name; });
    add_column(table, "seconds", rows, [](const Share& row) { return base::seconds(row.ns); });
    add_column(table, "share", rows, part);
  };
  table_of("path_by_rank", "rank", true, shares(path, [&](const PathRow& row) {
             return Share{0, definitions.processes[row.process].rank, ""};
           }));
  table_of("path_by_function", "name", false, shares(path, [&](const PathRow& row) {
             return Share{0, 0, function(row.function)};
           }));
  table_of("path_by_communicator", "communicator", true, shares(path, [&](const PathRow& row) {
             return Share{0, row.function == kNobody ? -1 : row.communicator, ""};
           }));
  trace::CallSiteNames names(definitions);
  Table& table = section.table("path");
  const auto site = [&](const PathRow& row) -> const trace::CodeSite& {
    return names.of_call(row.process, row.site);
  };
  add_column(table, "rank", path.rows,
             [&](const PathRow& row) { return definitions.processes[row.process].rank; });
  add_column(table, "name", path.rows, [&](const PathRow& row) { return function(row.function); });
  add_column(table, "file", path.rows,
             [&](const PathRow& row) { return trace::file_or_module(site(row)); });
  add_column(table, "line", path.rows,
             [&](const PathRow& row) { return std::int64_t{site(row).line}; });
  add_column(table, "phase", path.rows, [&](const PathRow& row) {
    return row.phase < definitions.phases.size() ? definitions.phases[row.phase] : std::string();
  });
  add_column(table, "communicator", path.rows,
             [](const PathRow& row) { return std::int64_t{row.communicator}; });
  add_column(table, "seconds", path.rows, [](const PathRow& row) { return base::seconds(row.ns); });
  add_column(table, "count", path.rows, [](const PathRow& row) { return row.count; });
  // For the program: the two calls around the work. Its file and line above are those of the second
  // call.
  const auto called = [&](std::uint32_t number) {
    return number == kNobody ? std::string() : definitions.functions[number].name;
  };
  const auto follows = [&](const PathRow& row) -> const trace::CodeSite& {
    return names.of_call(row.process, row.follows_site);
  };
  add_column(table, "leads_to", path.rows,
             [&](const PathRow& row) { return called(row.leads_to); });
  add_column(table, "follows", path.rows, [&](const PathRow& row) { return called(row.follows); });
  add_column(table, "follows_file", path.rows,
             [&](const PathRow& row) { return trace::file_or_module(follows(row)); });
  add_column(table, "follows_line", path.rows,
             [&](const PathRow& row) { return std::int64_t{follows(row).line}; });
  if (path.stretches.empty()) return;
  Table& stretches = section.table("path_stretches");
  add_column(stretches, "rank", path.stretches,
             [&](const PathStretch& part) { return definitions.processes[part.process].rank; });
  add_column(stretches, "name", path.stretches,
             [&](const PathStretch& part) { return function(part.function); });
  add_column(stretches, "from_s", path.stretches,
             [](const PathStretch& part) { return base::seconds(part.begin_ns); });
  add_column(stretches, "to_s", path.stretches,
             [](const PathStretch& part) { return base::seconds(part.end_ns); });
}

void lay_out(const std::vector<SlackRow>& rows, const trace::Definitions& definitions,
             Section& section) {
  trace::CallSiteNames names(definitions);
  Table& table = section.table("slack");
  const auto site = [&](const SlackRow& row) -> const trace::CodeSite& {
    return names.of_call(row.process, row.site);
  };
  add_column(table, "rank", rows,
             [&](const SlackRow& row) { return definitions.processes[row.process].rank; });
  add_column(table, "name", rows,
             [&](const SlackRow& row) { return definitions.functions[row.function].name; });
  add_column(table, "file", rows,
             [&](const SlackRow& row) { return trace::file_or_module(site(row)); });
  add_column(table, "line", rows,
             [&](const SlackRow& row) { return std::int64_t{site(row).line}; });
  add_column(table, "phase", rows, [&](const SlackRow& row) {
    return row.phase < definitions.phases.size() ? definitions.phases[row.phase] : std::string();
  });
  add_column(table, "communicator", rows,
             [](const SlackRow& row) { return std::int64_t{row.communicator}; });
  add_column(table, "count", rows, [](const SlackRow& row) { return row.count; });
  add_column(table, "least_seconds", rows,
             [](const SlackRow& row) { return base::seconds(row.least_ns); });
  add_column(table, "mean_seconds", rows, [](const SlackRow& row) {
    return base::seconds(row.sum_ns) / static_cast<double>(row.count);
  });
}

void lay_out(const PathMetrics& metrics, const trace::Definitions& definitions, Section& section) {
  std::vector<std::size_t> numbers(kPathMetrics), routines(kRoutines);
  for (std::size_t i = 0; i < kPathMetrics; ++i) numbers[i] = i;
  for (std::size_t i = 0; i < kRoutines; ++i) routines[i] = i;
  const auto value = [](std::size_t metric, std::uint64_t number) {
    return shown(static_cast<PathMetric>(metric), number);
  };
  Table& table = section.table("metrics");
  add_column(table, "metric", numbers,
             [](std::size_t i) { return std::string(name_of(static_cast<PathMetric>(i))); });
  add_column(table, "critical_path", numbers,
             [&](std::size_t i) { return value(i, metrics.path[i]); });
  add_column(table, "ends_at_rank", numbers,
             [&](std::size_t i) { return definitions.processes[metrics.ends_at[i]].rank; });
  add_column(table, "most_of_a_rank", numbers,
             [&](std::size_t i) { return value(i, metrics.most[i]); });
  add_column(table, "sum", numbers, [&](std::size_t i) { return value(i, metrics.sum[i]); });
  add_column(table, "mean", numbers, [&](std::size_t i) {
    return value(i, metrics.sum[i]) /
           static_cast<double>(std::max<std::size_t>(1, metrics.processes));
  });
  section.figure("alpha_seconds",
                 metrics.model.messages > 0 ? metrics.model.alpha_ns * 1e-9 : std::nan(""));
  section.figure("beta_seconds_per_byte",
                 metrics.model.messages > 0 ? metrics.model.beta_ns_per_byte * 1e-9 : std::nan(""));
  section.figure("alpha_beta_messages", metrics.model.messages);
  section.figure("idle_seconds", base::seconds(metrics.sum_idle_ns));
  section.figure("most_idle_seconds", base::seconds(metrics.most_idle_ns));
  std::erase_if(routines, [&](std::size_t routine) {
    const auto& sums = metrics.sum_by_routine[routine];
    return std::all_of(sums.begin(), sums.end(), [](std::uint64_t sum) { return sum == 0; });
  });
  for (const bool on_path : {true, false}) {
    Table& by_routine = section.table(on_path ? "path_metrics_by_routine" : "sums_by_routine");
    add_column(by_routine, "routine", routines,
               [](std::size_t i) { return std::string(name_of(static_cast<Routine>(i))); });
    for (std::size_t metric = 0; metric < kPathMetrics; ++metric) {
      add_column(by_routine, name_of(static_cast<PathMetric>(metric)), routines,
                 [&](std::size_t routine) {
                   return value(metric, on_path ? metrics.path_by_routine[routine][metric]
                                                : metrics.sum_by_routine[routine][metric]);
                 });
    }
  }
}

}  // namespace

base::Result<Outcome> critical_path(const Input& input) {
  if (input.trace == nullptr) return critical_path_of_profile(input);
  auto joined = input.job->joined();
  if (!joined) return joined.error();
  JoinedJob& job = **joined;
  const auto path_pass =
      critical_path_pass(job, static_cast<std::size_t>(input.thresholds.path_stretches));
  const auto metrics_pass = path_metrics_pass(job);
  const auto slack_pass = path_slack_pass(job);
  run_passes(job.transport(),
             {path_pass.pass.get(), metrics_pass.pass.get(), slack_pass.pass.get()});
  const CriticalPath path = path_pass.result();
  const PathMetrics metrics = metrics_pass.result();
  const std::vector<SlackRow> slack = slack_pass.result();
  Outcome outcome;
  if (job.transport().rank() != 0 || job.definitions().processes.empty()) return outcome;
  lay_out(path, job.definitions(), outcome.section);
  lay_out(slack, job.definitions(), outcome.section);
  lay_out(metrics, job.definitions(), outcome.section);
  if (metrics.model.messages == 0) {
    outcome.limits.push_back(
        "alpha and beta could not be measured, because no receiver was waiting when a message was "
        "sent; estimated costs are not given in seconds");
  }
  if (input.profile != nullptr) add_windows(*input.profile, outcome);
  if (!input.scope.whole_time() || input.scope.ranks || input.scope.phases) {
    outcome.limits.push_back(
        "the critical path is that of the whole job, not only of the chosen part");
  }
  if (metrics.released > 0) {
    outcome.limits.push_back(std::to_string(metrics.released) +
                             " messages or collectives are not followed along the paths, because "
                             "their other end is not complete in the trace");
  }
  return outcome;
}

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/path/critical_path.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "analysis/calls/call_key.h"
#include "analysis/engine/call_wait.h"
#include "analysis/engine/job_end.h"
#include "analysis/engine/lazy_job.h"
#include "analysis/engine/parcels.h"
#include "analysis/engine/rounds.h"
#include "analysis/path/path_metrics.h"
#include "analysis/path/path_slack.h"
#include "analysis/path/profile_path.h"
#include "base/flat_map.h"
#include "base/order/sort_stably.h"
#include "base/seconds.h"
#include "trace/code/call_site_names.h"

namespace fathom::analysis {
namespace {

// Position of the walk: before the step `number` of `process`, at this time.
struct Token {
  std::uint32_t process = 0;
  std::uint32_t number = 0;
  bool at_end = false;   // at the end of that process; number is not known yet
  bool at_step = false;  // number is the step waited for; its call comes next
  std::uint64_t time_ns = 0;
};

struct PathKey {
  CallKey call;
  std::uint32_t leads_to = kNobody, follows = kNobody;
  std::uint64_t follows_site = 0;
  bool operator==(const PathKey&) const = default;
};

struct PathKeyHash {
  std::uint64_t operator()(const PathKey& key) const {
    return base::mixed(
        CallKeyHash{}(key.call) ^
        base::mixed(key.follows_site ^ (std::uint64_t{key.leads_to} << 32 | key.follows)));
  }
};

// The path is one chain, so at any time only the owner of its present process can work. The walk is
// therefore a Pass that shares its rounds with others, which keep the rest busy.
class Walk : public Pass {
 public:
  Walk(JoinedJob& job, std::size_t most_stretches)
      : job_(job), parcels_(job.transport().size()), most_stretches_(most_stretches) {
    const JobEnd end = job_end(job);
    if (end.process == kNobody) return;
    begin_ns_ = end_ns_ = end.time_ns;
    pass_on({end.process, 0, true, false, end.time_ns}, true);
  }

  Stall work() override {
    while (here_) go_on();
    return {};
  }
  Parcels& parcels() override { return parcels_; }
  void open(Received& received) override {
    while (received.more()) {
      received.kind();
      here_ = received.take<Token>();
    }
  }

  CriticalPath gather() {
    std::vector<PathRow> own;
    rows_.for_each([&](const PathKey& key, PathRow row) {
      row.process = key.call.process;
      row.function = key.call.function;
      row.phase = key.call.phase;
      row.communicator = key.call.communicator;
      row.site = key.call.site;
      row.leads_to = key.leads_to;
      row.follows = key.follows;
      row.follows_site = key.follows_site;
      own.push_back(row);
    });
    CriticalPath path;
    path.rows = gathered(job_.transport(), own);
    std::sort(path.rows.begin(), path.rows.end(), [](const PathRow& a, const PathRow& b) {
      return std::tie(a.process, a.function, a.site, a.communicator, a.phase, a.leads_to,
                      a.follows_site, a.follows) < std::tie(b.process, b.function, b.site,
                                                            b.communicator, b.phase, b.leads_to,
                                                            b.follows_site, b.follows);
    });
    path.stretches = gathered(job_.transport(), stretches_);
    const auto later = [](const PathStretch& a, const PathStretch& b) {
      return a.end_ns > b.end_ns;
    };
    std::sort(path.stretches.begin(), path.stretches.end(), later);
    path.stretches.resize(std::min(path.stretches.size(), most_stretches_));
    std::reverse(path.stretches.begin(), path.stretches.end());
    path.end_ns = path.begin_ns = end_ns_;
    for (const auto& [begin_ns, changes] :
         gathered(job_.transport(), std::vector{Ends{begin_ns_, changes_}})) {
      path.begin_ns = std::min(path.begin_ns, begin_ns);
      path.changes += changes;
    }
    return path;
  }

 private:
  void pass_on(const Token& token, bool all_know = false) {
    if (job_.is_own(token.process)) {
      here_ = token;
    } else if (!all_know) {
      parcels_.send(job_.mapping()[token.process], 0, token);
    }
  }

  // Follows one process backward until the path leaves it, or begins.
  void go_on() {
    Token token = *here_;
    here_.reset();
    OpenWaits open(job_, token.process);
    const StepFile& steps = job_.steps();
    if (token.at_end) token.number = steps.size(token.process);
    std::uint32_t inside_call = kNobody;
    if (token.at_step) {
      const Step& step = steps.at(token.process, token.number);
      const std::uint32_t call = step.posted;
      // What a call tells after it has waited leads back into it; anything else, before it.
      const bool inside = step.has(kNotice) && step.kind == StepKind::kSend &&
                          steps.at(token.process, call).time_ns < token.time_ns;
      if (inside) {
        inside_call = call;
        ++token.number;
      }
      if (call != kNobody && !inside) token.number = call;
    }
    std::uint64_t now_ns = token.time_ns;
    const Step* next = nullptr;  // the call that follows the work before now
    if (token.number < steps.size(token.process) &&
        steps.at(token.process, token.number).kind == StepKind::kCall) {
      next = &steps.at(token.process, token.number);
    }
    for (std::uint32_t number = token.number; number-- > 0;) {
      if (number % StepFile::kBlockSteps == 0) job_.steps().touched(StepFile::kBlockSteps);
      const Step& step = steps.at(token.process, number);
      if (step.kind != StepKind::kCall) {
        open.add(number, step);
        continue;
      }
      if (step.thread != 0 || step.has(kNested) || step.time_ns >= now_ns) continue;
      if (step.end_ns < now_ns) add_work(token.process, step, next, now_ns);
      const std::uint64_t end_ns = std::min(step.end_ns, now_ns);
      const CallWait* const seen = open.find(number);
      const Wait wait = seen == nullptr ? Wait{} : seen->wait();
      // Back in time, or out of the call that passed something on after it had waited; elsewhere two calls
      // that end when they begin would pass the path on to each other for ever.
      if (wait.ns > 0 &&
          (wait.decided_ns < end_ns || (wait.decided_ns == end_ns && number == inside_call))) {
        if (wait.decided_ns < end_ns) add_call(token.process, step, wait.decided_ns, end_ns);
        ++changes_;
        begin_ns_ = std::min(begin_ns_, wait.decided_ns);
        return pass_on({wait.culprit, wait.culprit_step, false, true, wait.decided_ns});
      }
      add_call(token.process, step, step.time_ns, end_ns);
      now_ns = step.time_ns;
      next = &step;
      open.clear();
    }
    begin_ns_ = std::min(begin_ns_, now_ns);
  }

  void add_call(std::uint32_t process, const Step& call, std::uint64_t begin_ns,
                std::uint64_t end_ns) {
    add({{job_.site_address(process, call), process, call.number, call.partner, call.communicator}},
        begin_ns, end_ns);
  }
  // Adds the program's work from one call to the next; `next` is nullptr if there is none.
  void add_work(std::uint32_t process, const Step& before, const Step* next, std::uint64_t end_ns) {
    PathKey key{{0, process, kNobody, kNobody, -1},
                kNobody,
                before.number,
                job_.site_address(process, before)};
    if (next != nullptr) {
      key.call = {job_.site_address(process, *next), process, kNobody, next->partner,
                  next->communicator};
      key.leads_to = next->number;
    }
    add(key, before.end_ns, end_ns);
  }
  void add(const PathKey& key, std::uint64_t begin_ns, std::uint64_t end_ns) {
    PathRow& row = rows_[key];
    row.ns += end_ns - begin_ns;
    ++row.count;
    if (stretches_.size() < most_stretches_)
      stretches_.push_back({begin_ns, end_ns, key.call.process, key.call.function});
  }

  struct Ends {
    std::uint64_t begin_ns = 0, changes = 0;
  };

  JoinedJob& job_;
  Parcels parcels_;
  std::optional<Token> here_;
  base::FlatMap<PathKey, PathRow, PathKeyHash> rows_;
  const std::size_t most_stretches_;
  std::vector<PathStretch> stretches_;
  std::uint64_t begin_ns_ = 0, end_ns_ = 0, changes_ = 0;
};

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

PassTo<CriticalPath> critical_path_pass(JoinedJob& job, std::size_t most_stretches) {
  auto walk = std::make_shared<Walk>(job, most_stretches);
  return {walk, [walk] { return walk->gather(); }};
}

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
                             " messages or collectives pass nothing on along the paths, because "
                             "their other end is not complete in the trace");
  }
  return outcome;
}

}  // namespace fathom::analysis

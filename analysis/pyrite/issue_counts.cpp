// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/pyrite/issue_counts.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/calls/call_stack.h"
#include "analysis/engine/causal_walk.h"
#include "analysis/engine/each_wait.h"
#include "analysis/engine/lazy_job.h"
#include "analysis/engine/parcels.h"
#include "analysis/scope/scope_filter.h"
#include "analysis/traffic/class_traffic.h"

namespace fathom::analysis {
namespace {

using trace::Event;
using trace::EventKind;

struct FunctionKind {
  bool completion = false, barrier = false, collective = false, global = false, rooted = false;
};

std::vector<FunctionKind> kinds_of(const trace::Definitions& definitions) {
  std::vector<FunctionKind> kinds;
  for (const trace::Function& function : definitions.functions) {
    FunctionKind kind;
    kind.completion = function.group == trace::Group::kCompletion;
    kind.barrier = is_barrier(function.name);
    kind.collective = function.group == trace::Group::kCollective && !kind.barrier;
    kind.global = is_global_collective(function.name);
    kind.rooted = is_rooted_collective(function.name);
    kinds.push_back(kind);
  }
  return kinds;
}

// Numbers of the communicators that all ranks of the job are members of.
std::set<std::int64_t> of_all_ranks(const trace::Definitions& definitions) {
  std::set<std::int64_t> numbers;
  for (const profile::Communicator& entry : definitions.communicators) {
    if (std::ssize(entry.world_ranks) + std::ssize(entry.remote_world_ranks) >=
        definitions.world_size)
      numbers.insert(entry.id);
  }
  return numbers;
}

// Windows of equal length: 10, plus one per 50,000 records, at most 40 (Pyrite's number).
class Windows {
 public:
  Windows(const trace::Definitions& definitions, const Scope& scope) {
    std::uint64_t first_ns = ~std::uint64_t{0}, last_ns = 0, records = 0;
    for (const trace::Process& process : definitions.processes) {
      first_ns = std::min(first_ns, process.first_ns);
      last_ns = std::max(last_ns, process.last_ns);
      records += process.records;
    }
    begin_ns = std::max(std::min(first_ns, last_ns), scope.from_ns);
    end_ns = std::max(std::min(last_ns, scope.to_ns), begin_ns);
    count = end_ns == begin_ns ? 1 : std::clamp<std::uint64_t>(records / 50'000 + 10, 10, 40);
  }
  std::size_t at(std::uint64_t time_ns) const {
    const std::uint64_t width_ns = (end_ns - begin_ns) / count + 1;
    return static_cast<std::size_t>(
        std::min((std::max(time_ns, begin_ns) - begin_ns) / width_ns, count - 1));
  }
  std::uint64_t begin_ns = 0, end_ns = 0, count = 1;
};

class IssueCounter : public EventConsumer {
 public:
  IssueCounter(const trace::Definitions& definitions, const ScopeFilter& scope,
               const Windows& windows)
      : windows(windows.count),
        definitions_(definitions),
        scope_(scope),
        bins_(windows),
        kinds_(kinds_of(definitions)),
        of_all_ranks_(of_all_ranks(definitions)),
        phases_(definitions.processes.size()),
        ranks_(definitions.processes.size()),
        links_(definitions.processes.size()) {}

  void events(std::uint32_t process, std::span<const Event> events) override {
    if (!scope_.process(process)) return;
    for (const Event& event : events) {
      phases_[process].take(event);
      if (!scope_.at(event.time_ns) || !scope_.phase(phases_[process].now())) continue;
      if (event.kind == EventKind::kEnter) {
        enter(process, event);
      } else if (event.kind == EventKind::kMessageReceived) {
        received(process, event);
      } else if (event.kind == EventKind::kRequestCompleted) {
        ++ranks_[process].completed_requests;
      }
    }
  }

  void end(std::uint32_t process) override {
    if (!scope_.process(process)) return;
    ranks_[process].process = process;
    ranks.push_back(ranks_[process]);
    for (const auto& [key, link] : links_[process]) links.push_back(link);
    links_[process].clear();
  }

  std::vector<RootCounts> roots() const {
    std::vector<RootCounts> rows;
    for (const auto& [key, row] : roots_) rows.push_back(row);
    return rows;
  }

  std::vector<RankCalls> ranks;
  std::vector<LinkCounts> links;
  std::vector<WindowCounts> windows;

 private:
  void enter(std::uint32_t process, const Event& event) {
    const FunctionKind& kind = kinds_[event.function];
    RankCalls& rank = ranks_[process];
    WindowCounts& window = windows[bins_.at(event.time_ns)];
    ++rank.calls;
    ++window.calls;
    rank.completions += kind.completion;
    window.completions += kind.completion;
    rank.barriers += kind.barrier;
    window.barriers += kind.barrier;
    rank.collectives += kind.collective;
    window.collectives += kind.collective;
    rank.global_collectives += kind.global && of_all_ranks_.contains(event.communicator);
    rank.rooted_collectives += kind.rooted;
    if (!kind.rooted || event.root < 0 || event.root == definitions_.processes[process].rank)
      return;
    RootCounts& root = roots_[{event.root, event.function}];
    root.root = event.root;
    root.function = event.function;
    ++root.calls;
    root.bytes += event.bytes;
  }

  void received(std::uint32_t process, const Event& event) {
    if (event.peer < 0 || event.bytes == 0) return;
    WindowCounts& window = windows[bins_.at(event.time_ns)];
    ++window.messages;
    window.bytes += event.bytes;
    LinkCounts& link = links_[process][{event.peer, event.communicator, event.code}];
    link.source = event.peer;
    link.destination = definitions_.processes[process].rank;
    link.communicator = event.communicator;
    link.message_class = event.code;
    link.bytes += event.bytes;
    ++link.messages;
    link.first_ns = std::min(link.first_ns, event.time_ns);
    link.last_ns = std::max(link.last_ns, event.time_ns);
  }

  const trace::Definitions& definitions_;
  const ScopeFilter& scope_;
  const Windows& bins_;
  const std::vector<FunctionKind> kinds_;
  const std::set<std::int64_t> of_all_ranks_;
  std::vector<PhaseStack> phases_;
  std::vector<RankCalls> ranks_;
  std::vector<std::map<std::tuple<std::int32_t, std::int32_t, std::uint32_t>, LinkCounts>> links_;
  std::map<std::pair<std::int32_t, std::uint32_t>, RootCounts> roots_;
};

class Lates {
 public:
  Lates(const Input& input, const ScopeFilter& scope)
      : scope_(scope), least_ns_(input.thresholds.late_wait_seconds * 1e9) {}

  // `kept_ns`: duration of the wait within the call. `late_ns`: how late the culprit was.
  void add(std::uint32_t process, std::uint32_t culprit, std::uint32_t kind, const Step& call,
           std::uint64_t late_ns, std::uint64_t kept_ns) {
    if (static_cast<double>(late_ns) <= least_ns_ || !scope_.process(process) ||
        !scope_.at(call.time_ns) || !scope_.phase(call.partner))
      return;
    LateCounts& row = rows_[{process, culprit, kind, call.number}];
    std::tie(row.process, row.culprit, row.kind, row.function) =
        std::tuple(process, culprit, kind, call.number);
    ++row.count;
    row.ns += kept_ns;
    if (late_ns < row.worst_ns || (late_ns == row.worst_ns && call.time_ns >= row.worst_at_ns))
      return;
    row.worst_ns = late_ns;
    row.worst_at_ns = call.time_ns;
  }
  std::vector<LateCounts> rows() const {
    std::vector<LateCounts> all;
    for (const auto& [key, row] : rows_) all.push_back(row);
    return all;
  }

 private:
  const ScopeFilter& scope_;
  const double least_ns_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, LateCounts>
      rows_;
};

// Backward, so that the members of a reduction learn when their root entered.
class EarlyArrivals {
 public:
  struct Payload {
    std::uint64_t entered_ns = 0;
    std::uint32_t process = kNobody, reserved = 0;
  };

  EarlyArrivals(const JoinedJob& job, Lates& lates) : job_(job), lates_(lates) {}

  void step(std::uint32_t, std::uint32_t, const Step&) {}
  Payload give(std::uint32_t process, const Step& part) { return {part.time_ns, process, 0}; }
  void take(std::uint32_t process, const Step& part, const Payload& root) {
    if (part.kind != StepKind::kCollective) return;
    const Step& call = job_.steps().at(process, part.call);
    const mpi::Meaning& facts = job_.facts().functions[call.number];
    if (facts.flow != Flow::kToRoot || mpi::moves_parts(facts.collective) ||
        root.entered_ns <= part.time_ns)
      return;
    if (root.entered_ns - part.time_ns <= job_.uncertainty_ns(process, root.process)) return;
    lates_.add(process, root.process, kEarlyArrival, call, root.entered_ns - part.time_ns,
               std::min(root.entered_ns, call.end_ns) - part.time_ns);
  }
  static void merge(Payload& into, const Payload& other) {
    if (other.entered_ns > into.entered_ns) into = other;
  }

 private:
  const JoinedJob& job_;
  Lates& lates_;
};

}  // namespace

base::Result<IssueCounts> count_issues(const Input& input) {
  auto joined = input.job->joined();
  if (!joined) return joined.error();
  JoinedJob& job = **joined;
  Transport& transport = job.transport();
  const ScopeFilter scope(input.scope, job.definitions());
  const Windows windows(job.definitions(), input.scope);
  IssueCounter counter(job.definitions(), scope, windows);
  JoinOptions options;
  options.steps = false;
  options.consumers = {&counter};
  if (auto passed = join_job(*input.trace, transport, options); !passed) return passed.error();
  Lates lates(input, scope);
  for (const std::uint32_t process : job.own()) {
    for_each_wait(job, process, [&](const Step& call, const Wait& wait) {
      lates.add(process, wait.culprit, static_cast<std::uint32_t>(wait.kind), call, wait.ns,
                wait.ns);
    });
  }
  EarlyArrivals early(job, lates);
  walk_causally(job, early, Direction::kBackward);

  IssueCounts counts;
  std::tie(counts.begin_ns, counts.end_ns) = std::tie(windows.begin_ns, windows.end_ns);
  counts.ranks = gathered(transport, counter.ranks);
  counts.links = gathered(transport, counter.links);
  counts.late = gathered(transport, lates.rows());
  std::sort(counts.ranks.begin(), counts.ranks.end(),
            [](const RankCalls& a, const RankCalls& b) { return a.process < b.process; });
  std::sort(counts.links.begin(), counts.links.end(), [](const LinkCounts& a, const LinkCounts& b) {
    return std::tie(a.communicator, a.source, a.destination, a.message_class) <
           std::tie(b.communicator, b.source, b.destination, b.message_class);
  });
  std::sort(counts.late.begin(), counts.late.end(), [](const LateCounts& a, const LateCounts& b) {
    return std::tie(a.kind, a.process, a.culprit, a.function) <
           std::tie(b.kind, b.process, b.culprit, b.function);
  });
  std::map<std::pair<std::int64_t, std::uint32_t>, RootCounts> roots;
  for (const RootCounts& row : gathered(transport, counter.roots())) {
    RootCounts& sum = roots[{row.root, row.function}];
    std::tie(sum.root, sum.function) = std::tie(row.root, row.function);
    sum.calls += row.calls;
    sum.bytes += row.bytes;
  }
  for (const auto& [key, row] : roots) counts.roots.push_back(row);
  counts.windows.resize(windows.count);
  const auto all = gathered(transport, counter.windows);
  for (std::size_t i = 0; i < all.size(); ++i) {
    WindowCounts& sum = counts.windows[i % counts.windows.size()];
    sum.calls += all[i].calls;
    sum.messages += all[i].messages;
    sum.bytes += all[i].bytes;
    sum.completions += all[i].completions;
    sum.barriers += all[i].barriers;
    sum.collectives += all[i].collectives;
  }
  return counts;
}

}  // namespace fathom::analysis

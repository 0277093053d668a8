// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/phases/phases.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "analysis/engine/lazy_job.h"
#include "analysis/engine/parcels.h"
#include "analysis/phases/loop_sites.h"
#include "analysis/phases/loop_table.h"
#include "analysis/phases/phase_traffic.h"
#include "analysis/scope/known_time.h"
#include "analysis/scope/scope_filter.h"
#include "base/order/sort_stably.h"
#include "base/seconds.h"
#include "profile/pair_sums.h"
#include "profile/summary.h"

namespace fathom::analysis {
namespace {

// Tests and probes are repeated as often as the program happens to poll. With them, hardly any two
// iterations would be equal.
bool is_step(const mpi::Meaning& facts) {
  return !facts.tests() && facts.group != trace::Group::kProbe &&
         facts.group != trace::Group::kEnvironment;
}

// What one analysis process finds in its own processes.
class LoopSearch {
 public:
  LoopSearch(const JoinedJob& job, const Input& input, const ScopeFilter& scope,
             const LoopSites& sites)
      : job_(job), input_(input), scope_(scope), sites_(sites) {}

  void find(std::uint32_t process) {
    CallLoops loops;
    take_calls(process, loops);
    if (loops.has_branches()) {
      loops = loops.again();
      take_calls(process, loops);
    }
    dropped += loops.dropped_calls();
    keep(process, loops.finish());
  }

  std::vector<PhasePart> parts;
  std::vector<LoopLine> lines;
  std::uint64_t dropped = 0;

 private:
  void take_calls(std::uint32_t process, CallLoops& loops) const {
    const StepFile& steps = job_.steps();
    for (std::uint32_t number = 0; number < steps.size(process); ++number) {
      if (number % StepFile::kBlockSteps == 0) job_.steps().touched(StepFile::kBlockSteps);
      const Step& step = steps.at(process, number);
      if (step.kind != StepKind::kCall || step.thread != 0 || step.has(kNested)) continue;
      if (!scope_.at(step.time_ns) || !scope_.phase(step.partner) ||
          !is_step(job_.facts().functions[step.number]))
        continue;
      loops.call(sites_.symbol(process, step), step.number, step.partner_step, step.time_ns,
                 step.end_ns);
    }
  }

  void keep(std::uint32_t process, const std::vector<CallItem>& items) {
    if (items.empty()) return;
    const double least_ns = least_ns_of(items);
    std::uint32_t loop = 0;
    for (const CallItem& item : items) {
      if (!has_enough_iterations(item) || ns_of(item) < least_ns) continue;
      parts.push_back(
          {process, loop, item.begin_ns, item.end_ns, item.calls, item.hash, item.iterations});
      add_loop(process, loop, item, job_.site_addresses(process), lines);
      ++loop;
    }
  }

  static double ns_of(const CallItem& item) {
    return static_cast<double>(item.end_ns - item.begin_ns);
  }

  // How long a loop must take. A short benchmark of a long run is as much a phase as others, unless
  // there are too many to look at.
  double least_ns_of(const std::vector<CallItem>& items) const {
    std::vector<double> loops;
    for (const CallItem& item : items) {
      if (has_enough_iterations(item)) loops.push_back(ns_of(item));
    }
    const auto span_ns = static_cast<double>(items.back().end_ns - items.front().begin_ns);
    const double share_ns = input_.thresholds.phase_share * span_ns;
    const auto kept = static_cast<std::size_t>(std::max(0.0, input_.thresholds.phases_kept));
    if (loops.size() <= kept) return 0;
    if (kept == 0) return share_ns;
    const auto last = loops.begin() + static_cast<std::ptrdiff_t>(kept - 1);
    std::nth_element(loops.begin(), last, loops.end(), std::greater<>());
    return std::min(share_ns, *last);
  }

  // It, or a loop in it.
  bool has_enough_iterations(const CallItem& item) const {
    if (!item.is_loop()) return false;
    return static_cast<double>(item.iterations.most) >= input_.thresholds.phase_iterations ||
           std::any_of(item.body.begin(), item.body.end(),
                       [this](const CallItem& inner) { return has_enough_iterations(inner); });
  }

  const JoinedJob& job_;
  const Input& input_;
  const ScopeFilter& scope_;
  const LoopSites& sites_;
};

std::uint64_t overlap_ns(const PhasePart& a, const PhasePart& b) {
  const std::uint64_t begin = std::max(a.begin_ns, b.begin_ns), end = std::min(a.end_ns, b.end_ns);
  return end > begin ? end - begin : 0;
}

// Over the ranks that take part.
struct PhaseSummary {
  std::uint64_t iterations = 0, fewest = 0, most = 0;  // the median rank's
  double calls = 0;                                    // of one iteration
  double mean_ns = 0, cv = 0;                          // of an iteration
  std::uint64_t shortest_ns = ~std::uint64_t{0}, longest_ns = 0, longest_at_ns = 0;
  std::uint32_t longest_process = 0;
};

PhaseSummary summary_of(const FoundPhase& phase) {
  PhaseSummary summary;
  std::map<std::uint32_t, std::uint64_t> by_process;
  Iterations all;
  double sum_ns = 0, count = 0, calls = 0;
  for (const PhasePart& part : phase.parts) {
    const Iterations& own = part.iterations;
    by_process[part.process] += own.count;
    count += static_cast<double>(own.count);
    calls += static_cast<double>(part.calls);
    sum_ns += static_cast<double>(own.sum_ns);
    all.merge(own);
    summary.shortest_ns = std::min(summary.shortest_ns, own.shortest_ns);
    if (own.longest_ns <= summary.longest_ns) continue;
    std::tie(summary.longest_ns, summary.longest_at_ns) =
        std::tie(own.longest_ns, own.longest_at_ns);
    summary.longest_process = part.process;
  }
  std::vector<std::uint64_t> counts;
  for (const auto& [process, number] : by_process) counts.push_back(number);
  std::sort(counts.begin(), counts.end());
  summary.iterations = counts[counts.size() / 2];
  summary.fewest = counts.front();
  summary.most = counts.back();
  summary.calls = calls / count;
  summary.mean_ns = sum_ns / count;
  summary.cv = summary.mean_ns > 0 ? all.deviation_ns() / summary.mean_ns : 0;
  return summary;
}

// The rank that represents the phase: the median of its ranks by number of calls.
const PhasePart& typical(const FoundPhase& phase) {
  std::vector<const PhasePart*> parts;
  for (const PhasePart& part : phase.parts) parts.push_back(&part);
  base::sort_stably(parts,
                    [](const PhasePart* a, const PhasePart* b) { return a->calls < b->calls; });
  return *parts[parts.size() / 2];
}

std::vector<std::int64_t> ranks_of(const FoundPhase& phase, const trace::Definitions& definitions) {
  std::vector<std::int64_t> ranks;
  for (const PhasePart& part : phase.parts)
    ranks.push_back(definitions.processes[part.process].rank);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// By (process, loop): the lines of each loop of the outermost level.
using LinesOfLoops = std::map<std::pair<std::uint32_t, std::uint32_t>, std::span<const LoopLine>>;

LinesOfLoops lines_of_loops(const std::vector<LoopLine>& lines) {
  LinesOfLoops loops;
  for (std::size_t at = 0; at < lines.size();) {
    const std::span<const LoopLine> own = lines_of_loop(lines, at);
    loops[{own[0].process, own[0].loop}] = own;
    at += own.size();
  }
  return loops;
}

void lay_out(const std::vector<FoundPhase>& phases, const LinesOfLoops& loops,
             const std::vector<profile::Volume>& volumes, const Thresholds& thresholds,
             LoopSites& sites, const trace::Definitions& definitions, Section& section) {
  struct Row {
    std::size_t number = 0;
    const FoundPhase* phase = nullptr;
    PhaseSummary summary;
    std::span<const LoopLine> lines;
    LoopName name;
  };
  std::vector<Row> rows;
  std::vector<LoopOfPhase> all_loops;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const PhasePart& part = typical(phases[i]);
    const std::span<const LoopLine> lines = loops.at({part.process, part.loop});
    rows.push_back({i + 1, &phases[i], summary_of(phases[i]), lines, name_of(lines, sites)});
    const auto own =
        loops_of_phase(static_cast<std::int64_t>(i) + 1, definitions.processes[part.process].rank,
                       lines, thresholds.phase_iterations);
    all_loops.insert(all_loops.end(), own.begin(), own.end());
  }
  section.figure("phases", static_cast<std::uint64_t>(phases.size()));
  Table& table = section.table("phases");
  const auto ns = [](std::uint64_t value) { return base::seconds(value); };
  add_column(table, "phase", rows,
             [](const Row& row) { return static_cast<std::int64_t>(row.number); });
  add_column(table, "name", rows, [](const Row& row) { return row.name.name; });
  add_column(table, "file", rows, [](const Row& row) { return row.name.file; });
  add_column(table, "first_line", rows, [](const Row& row) { return row.name.first_line; });
  add_column(table, "last_line", rows, [](const Row& row) { return row.name.last_line; });
  add_column(table, "from_s", rows, [&](const Row& row) { return ns(row.phase->begin_ns); });
  add_column(table, "to_s", rows, [&](const Row& row) { return ns(row.phase->end_ns); });
  add_column(table, "seconds", rows,
             [&](const Row& row) { return ns(row.phase->end_ns - row.phase->begin_ns); });
  add_column(table, "iterations", rows, [](const Row& row) { return row.summary.iterations; });
  add_column(table, "fewest_iterations", rows, [](const Row& row) { return row.summary.fewest; });
  add_column(table, "most_iterations", rows, [](const Row& row) { return row.summary.most; });
  add_column(table, "calls_per_iteration", rows, [](const Row& row) { return row.summary.calls; });
  add_column(table, "iteration_seconds", rows,
             [](const Row& row) { return base::seconds(row.summary.mean_ns); });
  add_column(table, "iteration_cv", rows, [](const Row& row) { return row.summary.cv; });
  add_column(table, "shortest_iteration_seconds", rows,
             [&](const Row& row) { return ns(row.summary.shortest_ns); });
  add_column(table, "longest_iteration_seconds", rows,
             [&](const Row& row) { return ns(row.summary.longest_ns); });
  add_column(table, "longest_at_s", rows,
             [&](const Row& row) { return ns(row.summary.longest_at_ns); });
  add_column(table, "longest_at_rank", rows, [&](const Row& row) {
    return definitions.processes[row.summary.longest_process].rank;
  });
  add_column(table, "bytes", rows, [&](const Row& row) { return volumes[row.number].bytes; });
  add_column(table, "messages", rows, [&](const Row& row) { return volumes[row.number].messages; });
  add_column(table, "ranks", rows,
             [&](const Row& row) { return ranks_of(*row.phase, definitions); });
  add_column(table, "body", rows,
             [&](const Row& row) { return body_text(row.lines, definitions); });
  lay_out_loops(all_loops, sites, definitions, section);
}

// Phase numbers by (process, loop); 0: none.
std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> numbers_of(
    const std::vector<FoundPhase>& phases) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> numbers;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    for (const PhasePart& part : phases[i].parts) numbers[{part.process, part.loop}] = i + 1;
  }
  return numbers;
}

bool has_own_calls(std::span<const LoopLine> lines, LoopSites& sites) {
  return std::any_of(lines.begin(), lines.end(), [&](const LoopLine& line) {
    return line.kind == LoopLine::kCall && sites.only_at(line.process, line.address);
  });
}

}  // namespace

bool is_more_than_chance(const FoundPhase& phase, const std::vector<PhasePart>& all,
                         bool has_own_calls, std::size_t processes) {
  const PhasePart& first = phase.parts.front();
  if (processes == 1 || has_own_calls ||
      std::any_of(phase.parts.begin(), phase.parts.end(),
                  [&first](const PhasePart& part) { return part.process != first.process; }))
    return true;
  std::set<std::uint32_t> same;
  for (const PhasePart& part : all) {
    if (part.hash == first.hash) same.insert(part.process);
  }
  return same.size() > 1 && 2 * same.size() >= processes;
}

std::vector<FoundPhase> phases_of(const std::vector<PhasePart>& parts) {
  std::vector<FoundPhase> phases;
  for (const PhasePart& part : parts) {
    FoundPhase* best = nullptr;
    std::pair<bool, std::uint64_t> closest;  // same calls; time in common
    for (FoundPhase& phase : phases) {
      // Compare with the most recent part on another process.
      const auto last =
          std::find_if(phase.parts.rbegin(), phase.parts.rend(),
                       [&](const PhasePart& other) { return other.process != part.process; });
      if (last == phase.parts.rend()) continue;
      const std::uint64_t both_ns = overlap_ns(part, *last),
                          shorter_ns =
                              std::min(part.end_ns - part.begin_ns, last->end_ns - last->begin_ns);
      const std::pair close(last->hash == part.hash, both_ns);
      if (2 * both_ns <= shorter_ns || close <= closest) continue;
      closest = close;
      best = &phase;
    }
    if (!best) best = &phases.emplace_back(FoundPhase{{}, part.begin_ns, part.end_ns});
    best->parts.push_back(part);
    best->begin_ns = std::min(best->begin_ns, part.begin_ns);
    best->end_ns = std::max(best->end_ns, part.end_ns);
  }
  base::sort_stably(
      phases, [](const FoundPhase& a, const FoundPhase& b) { return a.begin_ns < b.begin_ns; });
  return phases;
}

base::Result<Outcome> phases(const Input& input) {
  auto joined = input.job->joined();
  if (!joined) return joined.error();
  const JoinedJob& job = **joined;
  const ScopeFilter scope(input.scope, job.definitions());
  const KnownTime known = known_time(job.definitions());
  LoopSites sites(job);
  LoopSearch search(job, input, scope, sites);
  for (const std::uint32_t process : job.own()) {
    if (scope.process(process) && known.order) search.find(process);
  }
  auto parts = gathered(job.transport(), search.parts);
  const auto lines = gathered(job.transport(), search.lines);
  const auto dropped = gathered(job.transport(), std::vector{search.dropped});
  base::sort_stably(parts, [](const PhasePart& a, const PhasePart& b) {
    return std::tie(a.process, a.loop) < std::tie(b.process, b.loop);
  });
  const auto traffic = count_phase_traffic(input, search.parts);
  if (!traffic) return traffic.error();
  const LinesOfLoops loops = lines_of_loops(lines);
  std::vector<FoundPhase> found = phases_of(parts);
  std::erase_if(found, [&](const FoundPhase& phase) {
    const PhasePart& part = phase.parts.front();
    return !is_more_than_chance(phase, parts,
                                has_own_calls(loops.at({part.process, part.loop}), sites),
                                job.definitions().processes.size());
  });
  const auto profiles =
      profiles_of_phases(*traffic, numbers_of(found), found.size(), job.definitions());
  std::vector<profile::Volume> volumes;
  for (const profile::Profile& profile : profiles)
    volumes.push_back(profile::total(profile::sum_pairs(profile)));
  Outcome outcome;
  lay_out(found, loops, volumes, input.thresholds, sites, job.definitions(), outcome.section);
  lay_out_named_phases(*traffic, job.definitions(), outcome.section);
  lay_out_phase_matrices(profiles, outcome.section);
  lay_out_phase_patterns(profiles, input.thresholds, outcome.section);
  if (!known.order)
    outcome.limits.push_back("phases were not looked for, because the trace lacks " +
                             known.lacking);
  std::uint64_t calls = 0;
  for (const std::uint64_t number : dropped) calls += number;
  if (calls > 0)
    outcome.limits.push_back(std::to_string(calls) +
                             " calls that do not repeat were left out of the search for phases");
  return outcome;
}

}  // namespace fathom::analysis

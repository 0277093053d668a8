// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/phases/phases.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/engine/lazy_job.h"
#include "analysis/engine/parcels.h"
#include "analysis/phases/phase_traffic.h"
#include "analysis/scope/known_time.h"
#include "analysis/scope/scope_filter.h"
#include "base/seconds.h"
#include "base/text.h"
#include "profile/pair_sums.h"
#include "profile/summary.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kMostLines = 64;  // per loop body

// Tests and probes are repeated as often as the program happens to poll. With them, hardly any two
// iterations would be equal.
bool is_step(const mpi::Meaning& facts) {
  return !facts.tests() && facts.group != trace::Group::kProbe &&
         facts.group != trace::Group::kEnvironment;
}

// What one analysis process finds in its own processes.
class LoopSearch {
 public:
  LoopSearch(const JoinedJob& job, const Input& input, const ScopeFilter& scope)
      : job_(job), input_(input), scope_(scope) {}

  void find(std::uint32_t process) {
    CallLoops loops;
    const StepFile& steps = job_.steps();
    for (std::uint32_t number = 0; number < steps.size(process); ++number) {
      if (number % StepFile::kBlockSteps == 0) job_.steps().touched(StepFile::kBlockSteps);
      const Step& step = steps.at(process, number);
      if (step.kind != StepKind::kCall || step.thread != 0 || step.has(kNested)) continue;
      if (!scope_.at(step.time_ns) || !scope_.phase(step.partner) ||
          !is_step(job_.facts().functions[step.number]))
        continue;
      const std::uint64_t symbol = base::mixed(job_.site_address(process, step)) ^
                                   std::uint64_t{step.number} << 32 ^
                                   static_cast<std::uint32_t>(step.communicator);
      loops.call(symbol, step.number, step.time_ns, step.end_ns);
    }
    dropped += loops.dropped_calls();
    keep(process, loops.finish());
  }

  std::vector<PhasePart> parts;
  std::vector<BodyLine> lines;
  std::uint64_t dropped = 0;

 private:
  void keep(std::uint32_t process, const std::vector<CallItem>& items) {
    if (items.empty()) return;
    const auto span_ns = static_cast<double>(items.back().end_ns - items.front().begin_ns);
    std::uint32_t loop = 0;
    for (const CallItem& item : items) {
      if (!item.is_loop() ||
          static_cast<double>(item.iterations.count) < input_.thresholds.phase_iterations)
        continue;
      if (static_cast<double>(item.end_ns - item.begin_ns) <
          input_.thresholds.phase_share * span_ns)
        continue;
      parts.push_back({process, loop, item.begin_ns, item.end_ns, item.calls, item.iterations});
      const std::size_t before = lines.size();
      for (const CallItem& inner : item.body)
        add_lines(process, loop, inner, 0, before + kMostLines);
      ++loop;
    }
  }

  void add_lines(std::uint32_t process, std::uint32_t loop, const CallItem& item,
                 std::uint32_t depth, std::size_t end) {
    if (lines.size() >= end) return;
    BodyLine line{process, loop, depth, item.function, 1, 1, item.is_loop()};
    if (item.is_loop())
      std::tie(line.fewest, line.most) = std::tie(item.iterations.fewest, item.iterations.most);
    lines.push_back(line);
    for (const CallItem& inner : item.body) add_lines(process, loop, inner, depth + 1, end);
  }

  const JoinedJob& job_;
  const Input& input_;
  const ScopeFilter& scope_;
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
  double sum_ns = 0, squares = 0, count = 0, calls = 0;
  for (const PhasePart& part : phase.parts) {
    const Iterations& own = part.iterations;
    by_process[part.process] += own.count;
    count += static_cast<double>(own.count);
    calls += static_cast<double>(part.calls);
    sum_ns += static_cast<double>(own.sum_ns);
    squares += own.squares_ns2;
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
  const double variance = std::max(0.0, squares / count - summary.mean_ns * summary.mean_ns);
  summary.cv = summary.mean_ns > 0 ? std::sqrt(variance) / summary.mean_ns : 0;
  return summary;
}

// The rank that represents the phase: the median of its ranks by number of calls.
const PhasePart& typical(const FoundPhase& phase) {
  std::vector<const PhasePart*> parts;
  for (const PhasePart& part : phase.parts) parts.push_back(&part);
  std::stable_sort(parts.begin(), parts.end(),
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

void lay_out(const std::vector<FoundPhase>& phases, const std::vector<BodyLine>& lines,
             const std::vector<profile::Volume>& volumes, const trace::Definitions& definitions,
             Section& section) {
  struct Row {
    std::size_t number = 0;
    const FoundPhase* phase = nullptr;
    PhaseSummary summary;
  };
  std::vector<Row> rows;
  for (std::size_t i = 0; i < phases.size(); ++i)
    rows.push_back({i + 1, &phases[i], summary_of(phases[i])});
  section.figure("phases", static_cast<std::uint64_t>(phases.size()));
  Table& table = section.table("phases");
  const auto ns = [](std::uint64_t value) { return base::seconds(value); };
  add_column(table, "phase", rows,
             [](const Row& row) { return static_cast<std::int64_t>(row.number); });
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
  add_column(table, "body", rows, [&](const Row& row) {
    const PhasePart& part = typical(*row.phase);
    std::vector<BodyLine> own;
    std::copy_if(lines.begin(), lines.end(), std::back_inserter(own), [&](const BodyLine& line) {
      return line.process == part.process && line.loop == part.loop;
    });
    return body_text(own, definitions);
  });
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

std::string text_of(const std::vector<BodyLine>& lines, std::size_t& at, std::uint32_t depth,
                    const trace::Definitions& definitions) {
  std::string text;
  while (at < lines.size() && lines[at].depth >= depth) {
    const BodyLine line = lines[at++];
    std::string what = line.is_loop ? text_of(lines, at, depth + 1, definitions)
                                    : definitions.functions[line.function].name;
    if (line.is_loop && what.find(',') != std::string::npos) what = "(" + what + ")";
    if (line.is_loop) {
      const std::string times = std::to_string(line.fewest) +
                                (line.most > line.fewest ? "–" + std::to_string(line.most) : "");
      what = times + " × " + what;
    }
    base::add_to_list(text, what);
  }
  return text;
}

}  // namespace

std::string body_text(const std::vector<BodyLine>& lines, const trace::Definitions& definitions) {
  std::size_t at = 0;
  return text_of(lines, at, 0, definitions);
}

std::vector<FoundPhase> phases_of(const std::vector<PhasePart>& parts) {
  std::vector<FoundPhase> phases;
  for (const PhasePart& part : parts) {
    FoundPhase* best = nullptr;
    std::uint64_t most_ns = 0;
    for (FoundPhase& phase : phases) {
      // Compare with the most recent part on another process.
      const auto last =
          std::find_if(phase.parts.rbegin(), phase.parts.rend(),
                       [&](const PhasePart& other) { return other.process != part.process; });
      if (last == phase.parts.rend()) continue;
      const std::uint64_t both_ns = overlap_ns(part, *last),
                          shorter_ns =
                              std::min(part.end_ns - part.begin_ns, last->end_ns - last->begin_ns);
      if (2 * both_ns <= shorter_ns || both_ns <= most_ns) continue;
      most_ns = both_ns;
      best = &phase;
    }
    if (!best) best = &phases.emplace_back(FoundPhase{{}, part.begin_ns, part.end_ns});
    best->parts.push_back(part);
    best->begin_ns = std::min(best->begin_ns, part.begin_ns);
    best->end_ns = std::max(best->end_ns, part.end_ns);
  }
  std::stable_sort(phases.begin(), phases.end(), [](const FoundPhase& a, const FoundPhase& b) {
    return a.begin_ns < b.begin_ns;
  });
  return phases;
}

base::Result<Outcome> phases(const Input& input) {
  auto joined = input.job->joined();
  if (!joined) return joined.error();
  const JoinedJob& job = **joined;
  const ScopeFilter scope(input.scope, job.definitions());
  const KnownTime known = known_time(job.definitions());
  LoopSearch search(job, input, scope);
  for (const std::uint32_t process : job.own()) {
    if (scope.process(process) && known.order) search.find(process);
  }
  auto parts = gathered(job.transport(), search.parts);
  const auto lines = gathered(job.transport(), search.lines);
  const auto dropped = gathered(job.transport(), std::vector{search.dropped});
  std::stable_sort(parts.begin(), parts.end(), [](const PhasePart& a, const PhasePart& b) {
    return std::tie(a.process, a.loop) < std::tie(b.process, b.loop);
  });
  const auto traffic = count_phase_traffic(input, search.parts);
  if (!traffic) return traffic.error();
  const std::vector<FoundPhase> found = phases_of(parts);
  const auto profiles =
      profiles_of_phases(*traffic, numbers_of(found), found.size(), job.definitions());
  std::vector<profile::Volume> volumes;
  for (const profile::Profile& profile : profiles)
    volumes.push_back(profile::total(profile::sum_pairs(profile)));
  Outcome outcome;
  lay_out(found, lines, volumes, job.definitions(), outcome.section);
  lay_out_named_phases(*traffic, job.definitions(), outcome.section);
  lay_out_phase_matrices(profiles, outcome.section);
  lay_out_phase_patterns(profiles, input.thresholds, outcome.section);
  if (!known.order)
    outcome.limits.push_back("phases are not looked for, because the trace lacks " + known.lacking);
  std::uint64_t calls = 0;
  for (const std::uint64_t number : dropped) calls += number;
  if (calls > 0)
    outcome.limits.push_back(std::to_string(calls) +
                             " calls that do not repeat were left out of the search for phases");
  return outcome;
}

}  // namespace fathom::analysis

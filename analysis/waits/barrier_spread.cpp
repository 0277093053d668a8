// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/waits/barrier_spread.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/engine/lazy_job.h"
#include "analysis/engine/parcels.h"
#include "analysis/scope/scope_filter.h"
#include "base/seconds.h"

namespace fathom::analysis {
namespace {

// A barrier that some members have entered.
struct Wave {
  Barrier barrier;
  std::uint32_t members = 0;
  bool chosen = false;  // a rank of the scope takes part
  bool inside = false;  // the last entry is in the scope's window and phase
};

bool is_worse(const Barrier& a, const Barrier& b) {
  return std::make_tuple(b.spread_ns(), a.communicator, a.sequence, a.first_ns) <
         std::make_tuple(a.spread_ns(), b.communicator, b.sequence, b.first_ns);
}

// Ties: the lowest process counts as first, the highest as last, whatever the merge order.
void merge(Wave& into, const Wave& other) {
  Barrier& barrier = into.barrier;
  const Barrier& more = other.barrier;
  if (into.members == 0) {
    into = other;
    return;
  }
  into.members += other.members;
  into.chosen = into.chosen || other.chosen;
  if (std::tie(more.first_ns, more.first) < std::tie(barrier.first_ns, barrier.first)) {
    std::tie(barrier.first_ns, barrier.first) = std::tie(more.first_ns, more.first);
  }
  if (std::tie(more.last_ns, more.last) <= std::tie(barrier.last_ns, barrier.last)) return;
  std::tie(barrier.last_ns, barrier.last) = std::tie(more.last_ns, more.last);
  into.inside = other.inside;
}

class BarrierSearch {
 public:
  BarrierSearch(const JoinedJob& job, const Scope& scope)
      : job_(job),
        scope_(scope, job.definitions()),
        at_(job.mapping().size()),
        parcels_(job.transport().size()) {}

  BarrierSpread run() {
    const Windows windows(job_.definitions());
    for (std::uint64_t window = 1; window <= windows.count; ++window) {
      const std::uint64_t until_ns =
          window == windows.count ? ~std::uint64_t{0} : window * windows.width_ns;
      for (const std::uint32_t process : job_.own()) go_on(process, until_ns);
      if (job_.transport().size() > 1) exchange();
    }
    return gather();
  }

 private:
  // The same at every analysis process: some thousand records of the longest trace each.
  struct Windows {
    explicit Windows(const trace::Definitions& definitions) {
      constexpr std::uint64_t kRecordsPerWindow = 1 << 16;
      std::uint64_t most = 0, end_ns = 0;
      for (const trace::Process& process : definitions.processes) {
        most = std::max(most, process.records);
        end_ns = std::max(end_ns, process.last_ns);
      }
      count = most / kRecordsPerWindow + 1;
      width_ns = end_ns / count + 1;
    }
    std::uint64_t count = 1, width_ns = 1;
  };

  void go_on(std::uint32_t process, std::uint64_t until_ns) {
    const StepFile& steps = job_.steps();
    std::uint32_t& at = at_[process];
    for (; at < steps.size(process) && steps.at(process, at).time_ns < until_ns; ++at) {
      if (at % StepFile::kBlockSteps == 0) job_.steps().touched(StepFile::kBlockSteps);
      const Step& step = steps.at(process, at);
      if (step.kind != StepKind::kCollective || !step.has(kJoined)) continue;
      const Step& call = steps.at(process, step.call);
      if (job_.facts().functions[call.number].flow != Flow::kBarrier) continue;
      Wave one{{step.communicator, step.number, process, process, step.time_ns, step.time_ns},
               1,
               false,
               false};
      one.chosen = scope_.process(process);
      one.inside = scope_.at(step.time_ns) && scope_.phase(call.partner);
      own_came(one);
    }
  }

  static std::uint64_t key(const Barrier& barrier) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(barrier.communicator)) << 32 |
           barrier.sequence;
  }

  // Own members first, because then one parcel goes for a barrier and not one for each member.
  // Sends what all own members know about a barrier to the process that owns its communicator.
  void own_came(const Wave& one) {
    Wave& wave = own_waves_[key(one.barrier)];
    merge(wave, one);
    if (wave.members < own_members(one.barrier.communicator)) return;
    const Wave whole = wave;
    own_waves_.erase(key(one.barrier));
    const std::uint32_t owner = job_.mapping()[members(one.barrier.communicator).front()];
    if (owner == job_.transport().rank()) return came(whole);
    parcels_.send(owner, 0, whole);
  }

  void came(const Wave& one) {
    Wave& wave = waves_[key(one.barrier)];
    merge(wave, one);
    if (wave.members < members(one.barrier.communicator).size()) return;
    if (wave.chosen && wave.inside) count(wave.barrier);
    waves_.erase(key(one.barrier));
  }

  void exchange() {
    for (const Transport::Bytes& bytes : job_.transport().exchange(parcels_.take())) {
      for (Received received(bytes); received.more();) {
        received.kind();
        came(received.take<Wave>());
      }
    }
  }

  void count(const Barrier& barrier) {
    LastAtBarrier& last = last_[{barrier.communicator, barrier.last}];
    last.communicator = barrier.communicator;
    last.process = barrier.last;
    ++last.count;
    last.spread_ns += barrier.spread_ns();
    last.most_ns = std::max(last.most_ns, barrier.spread_ns());
    worst_.push_back(barrier);
    if (worst_.size() >= 16 * kMostListed) keep_worst(worst_);
  }
  static void keep_worst(std::vector<Barrier>& worst) {
    std::sort(worst.begin(), worst.end(), is_worse);
    if (worst.size() > kMostListed) worst.resize(kMostListed);
  }

  BarrierSpread gather() {
    std::vector<LastAtBarrier> last;
    for (const auto& [place, row] : last_) last.push_back(row);
    keep_worst(worst_);
    BarrierSpread spread{gathered(job_.transport(), worst_), gathered(job_.transport(), last)};
    keep_worst(spread.worst);
    std::sort(spread.last.begin(), spread.last.end(),
              [](const LastAtBarrier& a, const LastAtBarrier& b) {
                return std::tie(a.communicator, a.process) < std::tie(b.communicator, b.process);
              });
    return spread;
  }

  const std::vector<std::uint32_t>& members(std::int32_t communicator) const {
    return job_.facts().members[static_cast<std::size_t>(communicator)];
  }
  std::uint32_t own_members(std::int32_t communicator) {
    std::uint32_t& known = own_members_[static_cast<std::uint32_t>(communicator)];
    if (known == 0) {
      const auto& all = members(communicator);
      known = static_cast<std::uint32_t>(std::count_if(
          all.begin(), all.end(), [&](std::uint32_t process) { return job_.is_own(process); }));
    }
    return known;
  }

  const JoinedJob& job_;
  const ScopeFilter scope_;
  std::vector<std::uint32_t> at_;  // by process
  Parcels parcels_;
  base::FlatMap<std::uint64_t, Wave> own_waves_, waves_;
  base::FlatMap<std::uint64_t, std::uint32_t> own_members_;
  std::map<std::pair<std::int32_t, std::uint32_t>, LastAtBarrier> last_;
  std::vector<Barrier> worst_;
};

void lay_out(const BarrierSpread& found, const trace::Definitions& definitions, Section& section) {
  const auto rank = [&](std::uint32_t process) { return definitions.processes[process].rank; };
  std::uint64_t count = 0, sum_ns = 0;
  for (const LastAtBarrier& row : found.last) {
    count += row.count;
    sum_ns += row.spread_ns;
  }
  section.figure("barriers", count);
  section.figure("mean_spread_seconds",
                 count > 0 ? base::seconds(sum_ns) / static_cast<double>(count) : 0.0);
  section.figure("most_spread_seconds",
                 found.worst.empty() ? 0.0 : base::seconds(found.worst[0].spread_ns()));
  Table& worst = section.table("barrier_spreads");
  add_column(worst, "communicator", found.worst,
             [](const Barrier& row) { return std::int64_t{row.communicator}; });
  add_column(worst, "sequence", found.worst,
             [](const Barrier& row) { return std::uint64_t{row.sequence}; });
  add_column(worst, "first_s", found.worst,
             [](const Barrier& row) { return base::seconds(row.first_ns); });
  add_column(worst, "last_s", found.worst,
             [](const Barrier& row) { return base::seconds(row.last_ns); });
  add_column(worst, "spread_seconds", found.worst,
             [](const Barrier& row) { return base::seconds(row.spread_ns()); });
  add_column(worst, "first_rank", found.worst, [&](const Barrier& row) { return rank(row.first); });
  add_column(worst, "last_rank", found.worst, [&](const Barrier& row) { return rank(row.last); });
  Table& last = section.table("last_at_barriers");
  add_column(last, "communicator", found.last,
             [](const LastAtBarrier& row) { return std::int64_t{row.communicator}; });
  add_column(last, "rank", found.last, [&](const LastAtBarrier& row) { return rank(row.process); });
  add_column(last, "barriers", found.last, [](const LastAtBarrier& row) { return row.count; });
  add_column(last, "spread_seconds", found.last,
             [](const LastAtBarrier& row) { return base::seconds(row.spread_ns); });
  add_column(last, "most_spread_seconds", found.last,
             [](const LastAtBarrier& row) { return base::seconds(row.most_ns); });
}

}  // namespace

BarrierSpread barrier_spread_of(const JoinedJob& job, const Scope& scope) {
  return BarrierSearch(job, scope).run();
}

base::Result<Outcome> barrier_spread(const Input& input) {
  auto joined = input.job->joined();
  if (!joined) return joined.error();
  Outcome outcome;
  lay_out(barrier_spread_of(**joined, input.scope), (*joined)->definitions(), outcome.section);
  const std::uint64_t left_out = (*joined)->summary().left_out_parts;
  if (left_out > 0) {
    outcome.limits.push_back(
        "the spread of barriers that lack a member's call in the trace is not known (" +
        std::to_string(left_out) + " calls of collectives are left out)");
  }
  return outcome;
}

}  // namespace fathom::analysis

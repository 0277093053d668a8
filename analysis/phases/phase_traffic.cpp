// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/phases/phase_traffic.h"

#include <algorithm>
#include <tuple>

#include "analysis/calls/call_stack.h"
#include "analysis/engine/lazy_job.h"
#include "analysis/engine/parcels.h"
#include "analysis/scope/scope_filter.h"
#include "analysis/traffic/patterns.h"
#include "base/seconds.h"
#include "profile/pair_sums.h"

namespace fathom::analysis {
namespace {

using trace::Event;
using trace::EventKind;

struct PairKey {
  std::uint32_t loop = 0, message_class = 0;
  std::int32_t communicator = 0, peer = 0;
  bool operator==(const PairKey&) const = default;
};
struct PairKeyHash {
  std::uint64_t operator()(const PairKey& key) const {
    return base::mixed((std::uint64_t{key.loop} << 40 ^ std::uint64_t{key.message_class} << 32 ^
                        static_cast<std::uint32_t>(key.peer)) +
                       static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.communicator)) *
                           0x9e3779b97f4a7c15u);
  }
};

class PhaseCounter : public EventConsumer {
 public:
  PhaseCounter(const trace::Definitions& definitions, const ScopeFilter& scope,
               const std::vector<PhasePart>& own)
      : definitions_(definitions), scope_(scope), states_(definitions.processes.size()) {
    for (const PhasePart& part : own) states_[part.process].loops.push_back(part);
  }

  void events(std::uint32_t process, std::span<const Event> events) override {
    if (!scope_.process(process)) return;
    State& state = states_[process];
    for (const Event& event : events) {
      if (event.kind == EventKind::kMessageReceived) {
        received(state, event);
      } else if (event.kind == EventKind::kPhaseBegin || event.kind == EventKind::kPhaseEnd) {
        phase_until(state, event.time_ns);
        state.phases.take(event);
        if (event.kind == EventKind::kPhaseBegin && scope_.at(event.time_ns))
          ++state.named[event.code].visits;
      }
    }
    if (!events.empty()) state.last_ns = std::max(state.last_ns, events.back().time_ns);
  }

  void end(std::uint32_t process) override {
    if (!scope_.process(process)) return;
    State& state = states_[process];
    phase_until(state, state.last_ns);
    state.pairs.for_each([&](const PairKey& key, PhasePair pair) {
      pair.process = process;
      pair.loop = key.loop;
      pair.message_class = key.message_class;
      pair.communicator = key.communicator;
      pair.source = key.peer;
      pair.destination = definitions_.processes[process].rank;
      pairs.push_back(pair);
    });
    for (auto& [phase, part] : state.named) {
      part.process = process;
      part.phase = phase;
      named.push_back(part);
    }
    state = {};
  }

  std::vector<PhasePair> pairs;
  std::vector<NamedPhasePart> named;

 private:
  struct State {
    PhaseStack phases;
    std::vector<PhasePart> loops;  // in order of time
    std::size_t at = 0;            // the loop that contains the current time, or the next one
    base::FlatMap<PairKey, PhasePair, PairKeyHash> pairs;
    std::map<std::uint32_t, NamedPhasePart> named;
    std::uint64_t since_ns = 0, last_ns = 0;
  };

  void received(State& state, const Event& event) const {
    if (event.peer < 0 || !scope_.at(event.time_ns) || !scope_.phase(state.phases.now())) return;
    while (state.at < state.loops.size() && state.loops[state.at].end_ns < event.time_ns)
      ++state.at;
    const bool inside =
        state.at < state.loops.size() && state.loops[state.at].begin_ns <= event.time_ns;
    PhasePair& pair = state.pairs[{inside ? state.loops[state.at].loop : kNobody, event.code,
                                   event.communicator, event.peer}];
    pair.bytes += event.bytes;
    ++pair.messages;
    if (state.phases.now() == PhaseStack::kNone) return;
    NamedPhasePart& named = state.named[state.phases.now()];
    named.bytes += event.bytes;
    ++named.messages;
  }

  void phase_until(State& state, std::uint64_t time_ns) const {
    if (state.phases.now() != PhaseStack::kNone)
      state.named[state.phases.now()].ns += scope_.inside_ns(state.since_ns, time_ns);
    state.since_ns = time_ns;
  }

  const trace::Definitions& definitions_;
  const ScopeFilter& scope_;
  std::vector<State> states_;
};

}  // namespace

base::Result<PhaseTraffic> count_phase_traffic(const Input& input,
                                               const std::vector<PhasePart>& own) {
  const ScopeFilter scope(input.scope, input.trace->definitions());
  PhaseCounter counter(input.trace->definitions(), scope, own);
  JoinOptions options;
  // Only received messages count, so no joined steps are needed.
  options.steps = false;
  options.consumers = {&counter};
  auto job = join_job(*input.trace, input.job->transport(), options);
  if (!job) return job.error();
  PhaseTraffic traffic{gathered(input.job->transport(), counter.pairs),
                       gathered(input.job->transport(), counter.named)};
  std::sort(traffic.pairs.begin(), traffic.pairs.end(), [](const PhasePair& a, const PhasePair& b) {
    return std::tie(a.process, a.loop, a.message_class, a.communicator, a.source) <
           std::tie(b.process, b.loop, b.message_class, b.communicator, b.source);
  });
  std::sort(traffic.named.begin(), traffic.named.end(),
            [](const NamedPhasePart& a, const NamedPhasePart& b) {
              return std::tie(a.phase, a.process) < std::tie(b.phase, b.process);
            });
  return traffic;
}

std::vector<profile::Profile> profiles_of_phases(
    const PhaseTraffic& traffic,
    const std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>& numbers,
    std::size_t phases, const trace::Definitions& definitions) {
  using Key = std::tuple<std::uint32_t, std::int32_t>;
  std::vector<std::map<Key, profile::PairSums>> sums(phases + 1);
  for (const PhasePair& pair : traffic.pairs) {
    const auto known = numbers.find({pair.process, pair.loop});
    const std::size_t number = known == numbers.end() ? 0 : known->second;
    sums[number][{pair.message_class, pair.communicator}].add(
        profile::PairCount{pair.source, pair.destination, pair.bytes, pair.messages});
  }
  std::vector<profile::Profile> profiles(phases + 1);
  for (std::size_t number = 0; number < sums.size(); ++number) {
    profiles[number].world_size = definitions.world_size;
    profiles[number].communicators = definitions.communicators;
    for (auto& [key, pairs] : sums[number]) {
      const auto [message_class, communicator] = key;
      profile::Traffic block{definitions.classes[message_class],
                             definitions.class_hidden[message_class],
                             communicator,
                             "",
                             {},
                             {},
                             {},
                             {}};
      for (const profile::PairCount& pair : pairs.take()) {
        block.source.push_back(pair.source);
        block.destination.push_back(pair.destination);
        block.bytes.push_back(pair.bytes);
        block.messages.push_back(pair.messages);
      }
      profiles[number].traffic.push_back(std::move(block));
    }
  }
  return profiles;
}

void lay_out_named_phases(const PhaseTraffic& traffic, const trace::Definitions& definitions,
                          Section& section) {
  struct Row {
    std::uint32_t phase = 0;
    std::uint64_t ranks = 0, visits = 0, ns = 0, most_ns = 0, bytes = 0, messages = 0;
    std::uint32_t most_process = 0;
  };
  std::vector<Row> rows;
  for (const NamedPhasePart& part : traffic.named) {
    if (rows.empty() || rows.back().phase != part.phase) rows.emplace_back().phase = part.phase;
    Row& row = rows.back();
    ++row.ranks;
    row.visits = std::max(row.visits, part.visits);
    row.ns += part.ns;
    row.bytes += part.bytes;
    row.messages += part.messages;
    if (part.ns <= row.most_ns) continue;
    row.most_ns = part.ns;
    row.most_process = part.process;
  }
  Table& table = section.table("named_phases");
  add_column(table, "name", rows, [&](const Row& row) { return definitions.phases[row.phase]; });
  add_column(table, "ranks", rows, [](const Row& row) { return row.ranks; });
  add_column(table, "visits", rows, [](const Row& row) { return row.visits; });
  add_column(table, "seconds", rows, [](const Row& row) { return base::seconds(row.ns); });
  add_column(table, "mean_seconds", rows,
             [](const Row& row) { return base::seconds(row.ns) / static_cast<double>(row.ranks); });
  add_column(table, "most_seconds", rows,
             [](const Row& row) { return base::seconds(row.most_ns); });
  add_column(table, "most_at_rank", rows,
             [&](const Row& row) { return definitions.processes[row.most_process].rank; });
  add_column(table, "bytes", rows, [](const Row& row) { return row.bytes; });
  add_column(table, "messages", rows, [](const Row& row) { return row.messages; });
}

void lay_out_phase_matrices(const std::vector<profile::Profile>& profiles, Section& section) {
  struct Row {
    std::size_t phase = 0;
    const profile::Traffic* block = nullptr;
    std::size_t at = 0;
  };
  std::vector<Row> rows;
  for (std::size_t phase = 0; phase < profiles.size(); ++phase) {
    for (const profile::Traffic& block : profiles[phase].traffic) {
      for (std::size_t at = 0; at < block.source.size(); ++at) rows.push_back({phase, &block, at});
    }
  }
  Table& table = section.table("matrices");
  add_column(table, "phase", rows,
             [](const Row& row) { return static_cast<std::int64_t>(row.phase); });
  add_column(table, "class", rows, [](const Row& row) { return row.block->class_name; });
  add_column(table, "hidden", rows, [](const Row& row) { return std::int64_t{row.block->hidden}; });
  add_column(table, "communicator", rows, [](const Row& row) { return row.block->communicator; });
  add_column(table, "source", rows, [](const Row& row) { return row.block->source[row.at]; });
  add_column(table, "destination", rows,
             [](const Row& row) { return row.block->destination[row.at]; });
  add_column(table, "bytes", rows, [](const Row& row) { return row.block->bytes[row.at]; });
  add_column(table, "messages", rows, [](const Row& row) { return row.block->messages[row.at]; });
}

void lay_out_phase_patterns(const std::vector<profile::Profile>& profiles,
                            const Thresholds& thresholds, Section& section) {
  std::vector<std::pair<std::int64_t, Pattern>> rows;
  for (std::size_t phase = 1; phase < profiles.size(); ++phase) {
    for (Pattern& pattern : find_patterns(profiles[phase], thresholds))
      rows.emplace_back(static_cast<std::int64_t>(phase), std::move(pattern));
  }
  Table& table = section.table("patterns");
  add_column(table, "phase", rows, [](const auto& row) { return row.first; });
  add_column(table, "kind", rows, [](const auto& row) { return row.second.kind; });
  add_column(table, "class", rows, [](const auto& row) { return row.second.class_name; });
  add_column(table, "communicators", rows,
             [](const auto& row) { return row.second.communicators; });
  add_column(table, "along", rows, [](const auto& row) { return row.second.along; });
  add_column(table, "extents", rows, [](const auto& row) { return row.second.extents; });
  add_column(table, "strength", rows, [](const auto& row) { return row.second.strength; });
  add_column(table, "description", rows, [](const auto& row) { return row.second.description; });
}

}  // namespace fathom::analysis

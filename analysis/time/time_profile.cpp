// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/time/time_profile.h"

#include <iterator>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "analysis/calls/call_rows.h"
#include "analysis/calls/call_stack.h"
#include "analysis/engine/lazy_job.h"
#include "analysis/engine/parcels.h"
#include "analysis/scope/known_time.h"
#include "analysis/scope/scope_filter.h"
#include "analysis/time/flat_profile.h"
#include "base/seconds.h"

namespace fathom::analysis {
namespace {

using trace::Event;
using trace::EventKind;

void add_bin_columns(Table& table, const TimeBins& bins) {
  std::vector<std::size_t> numbers(bins.count());
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  add_column(table, "bin_start_s", numbers,
             [&](std::size_t bin) { return base::seconds(bins.begin_ns(bin)); });
  add_column(table, "bin_end_s", numbers,
             [&](std::size_t bin) { return base::seconds(bins.end_ns(bin)); });
}

TimeBins bins_of(const Input& input) {
  return {span_of(input.job->programs(), input.trace->definitions(), input.scope), input.scope,
          kTimeBins};
}

// Each moment belongs to the innermost open call of the thread; on the first thread, outside all
// calls, to the program.
class TimeCounter : public EventConsumer {
 public:
  TimeCounter(const CountedEvents& events, const TimeBins& bins)
      : counts(events.trace.definitions().functions.size() + 1, bins.count()),
        definitions_(events.trace.definitions()),
        scope_(events.scope, definitions_),
        choice_(events.choice, definitions_.processes.size()),
        bins_(bins),
        states_(definitions_.processes.size()) {}

  void events(std::uint32_t process, std::span<const Event> events) override {
    if (!scope_.process(process)) return;
    State& state = states_[process];
    for (const Event& event : events) {
      const bool chosen = choice_.next(process);
      if (event.kind == EventKind::kEnter) {
        to(state, process, event.thread, event.time_ns);
        state.stacks.of(event.thread)
            .push_back({event.time_ns, 0, 0, event.function, -1, state.phases.now(), chosen});
      } else if (event.kind == EventKind::kLeave) {
        to(state, process, event.thread, event.time_ns);
        auto& open = state.stacks.of(event.thread);
        open.resize(open.size() - CallStacks::closed_by(open, event.function));
      } else {
        if (event.kind == EventKind::kLost || event.kind == EventKind::kPause) ++gaps;
        state.phases.take(event);
      }
    }
    if (!events.empty()) state.last_ns = events.back().time_ns;
  }

  void end(std::uint32_t process) override {
    if (!scope_.process(process)) return;
    State& state = states_[process];
    for (std::uint32_t thread = 0; thread < state.stacks.threads(); ++thread)
      to(state, process, thread, state.last_ns);
    state = {};
  }

  BinCounts counts;        // by function; the last is the program's
  std::uint64_t gaps = 0;  // as gaps_in() of the same events' CallRows

 private:
  struct State {
    CallStacks stacks;
    PhaseStack phases;
    std::vector<std::uint64_t> since_ns;  // by thread
    std::uint64_t last_ns = 0;
  };

  void to(State& state, std::uint32_t process, std::uint32_t thread, std::uint64_t time_ns) {
    auto& open = state.stacks.of(thread);
    if (state.since_ns.size() <= thread) {
      state.since_ns.resize(thread + 1, time_ns);
      // The program's time begins with the process, but only on the first thread: when another
      // thread began is not known.
      if (thread == 0) state.since_ns[0] = definitions_.processes[process].first_ns;
    }
    const std::uint64_t from_ns = state.since_ns[thread];
    state.since_ns[thread] = time_ns;
    const bool in_program = open.empty();
    if (in_program ? thread != 0 || !choice_.all() : !open.back().chosen) return;
    if (!scope_.phase(in_program ? state.phases.now() : open.back().phase)) return;
    bins_.add(from_ns, time_ns,
              counts.of(in_program ? definitions_.functions.size() : open.back().function));
  }

  const trace::Definitions& definitions_;
  const ScopeFilter scope_;
  ChoiceCursor choice_;
  const TimeBins& bins_;
  std::vector<State> states_;
};

class MessageCounter : public EventConsumer {
 public:
  MessageCounter(const CountedEvents& events, const TimeBins& bins)
      : counts(kMessageRows, bins.count()),
        definitions_(events.trace.definitions()),
        scope_(events.scope, definitions_),
        choice_(events.choice, definitions_.processes.size()),
        bins_(bins),
        phases_(definitions_.processes.size()) {}

  void events(std::uint32_t process, std::span<const Event> events) override {
    if (!scope_.process(process)) return;
    PhaseStack& phases = phases_[process];
    for (const Event& event : events) {
      const bool chosen = choice_.next(process);
      const bool sent = event.kind == EventKind::kMessageSent;
      if (!sent && event.kind != EventKind::kMessageReceived) {
        phases.take(event);
        continue;
      }
      if (!chosen || !bins_.holds(event.time_ns) || !scope_.phase(phases.now())) continue;
      const bool hidden =
          event.code < definitions_.class_hidden.size() && definitions_.class_hidden[event.code];
      const std::size_t row =
          (hidden ? kHiddenSentBytes : kSentBytes) + (sent ? kSentBytes : kReceivedBytes);
      const std::size_t bin = bins_.bin_of(event.time_ns);
      counts.of(row)[bin] += event.bytes;
      ++counts.of(row + 1)[bin];
    }
  }

  BinCounts counts;

 private:
  const trace::Definitions& definitions_;
  const ScopeFilter scope_;
  ChoiceCursor choice_;
  const TimeBins& bins_;
  std::vector<PhaseStack> phases_;
};

// At analysis process 0 the sums of what all counted.
BinCounts sum_of_all(Transport& transport, const BinCounts& counts, const TimeBins& bins) {
  const std::size_t size = counts.values().size();
  const auto all = gathered(transport, counts.values());
  BinCounts sums(counts.series(), bins.count());
  for (std::size_t i = 0; i < all.size(); i += size) sums.add(std::span(all).subspan(i, size));
  return sums;
}

struct TimesAndGaps {
  BinCounts times;
  std::uint64_t gaps;
};

base::Result<TimesAndGaps> times_and_gaps(const CountedEvents& events, const TimeBins& bins) {
  TimeCounter counter(events, bins);
  if (const base::Status passed = pass_over(events, counter); !passed) return passed.error();
  const std::vector<std::uint64_t> gaps = gathered(events.transport, std::vector{counter.gaps});
  return TimesAndGaps{sum_of_all(events.transport, counter.counts, bins),
                      std::accumulate(gaps.begin(), gaps.end(), std::uint64_t{0})};
}

}  // namespace

base::Result<BinCounts> time_by_bin(const CountedEvents& events, const TimeBins& bins) {
  auto counted = times_and_gaps(events, bins);
  if (!counted) return counted.error();
  return std::move(counted->times);
}

base::Result<BinCounts> messages_by_bin(const CountedEvents& events, const TimeBins& bins) {
  MessageCounter counter(events, bins);
  if (const base::Status passed = pass_over(events, counter); !passed) return passed.error();
  return sum_of_all(events.transport, counter.counts, bins);
}

base::Result<Outcome> time_profile(const Input& input) {
  const trace::Definitions& definitions = input.trace->definitions();
  const TimeBins bins = bins_of(input);
  const auto counted = times_and_gaps(counted_events(input), bins);
  if (!counted) return counted.error();
  const BinCounts& counts = counted->times;
  const bool computing_known = known_time(definitions, counted->gaps).computing;
  Outcome outcome;
  Table& table = outcome.section.table("time_profile");
  add_bin_columns(table, bins);
  for (std::size_t i = 0; i < counts.series(); ++i) {
    const bool program = i == definitions.functions.size();
    if (!program && counts.empty(i)) continue;
    add_column(table, program ? program_name(computing_known) : definitions.functions[i].name,
               counts.of(i), [](std::uint64_t ns) { return base::seconds(ns); });
  }
  return outcome;
}

base::Result<Outcome> comm_over_time(const Input& input) {
  const TimeBins bins = bins_of(input);
  const auto counts = messages_by_bin(counted_events(input), bins);
  if (!counts) return counts.error();
  Outcome outcome;
  Table& table = outcome.section.table("comm_over_time");
  add_bin_columns(table, bins);
  constexpr const char* kNames[] = {"sent_bytes",
                                    "sent_messages",
                                    "received_bytes",
                                    "received_messages",
                                    "hidden_sent_bytes",
                                    "hidden_sent_messages",
                                    "hidden_received_bytes",
                                    "hidden_received_messages"};
  static_assert(std::size(kNames) == kMessageRows);
  for (std::size_t i = 0; i < kMessageRows; ++i) {
    add_column(table, kNames[i], counts->of(i), [](std::uint64_t count) { return count; });
  }
  return outcome;
}

}  // namespace fathom::analysis

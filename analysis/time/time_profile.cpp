// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/time/time_profile.h"

#include <algorithm>
#include <array>

#include "analysis/calls/call_stack.h"
#include "analysis/engine/lazy_job.h"
#include "analysis/engine/parcels.h"
#include "analysis/scope/scope_filter.h"
#include "base/seconds.h"

namespace fathom::analysis {
namespace {

using trace::Event;
using trace::EventKind;
using BinCounts = std::array<std::uint64_t, kTimeBins>;

// From the beginning of the job, or of the window, to its end.
class Bins {
 public:
  Bins(const trace::Definitions& definitions, const Scope& scope) {
    std::uint64_t first_ns = ~std::uint64_t{0}, last_ns = 0;
    for (const trace::Process& process : definitions.processes) {
      first_ns = std::min(first_ns, process.first_ns);
      last_ns = std::max(last_ns, process.last_ns);
    }
    begin_ns_ = std::max(std::min(first_ns, last_ns), scope.from_ns);
    const std::uint64_t end_ns = std::max(std::min(last_ns + 1, scope.to_ns), begin_ns_ + 1);
    width_ns_ = (end_ns - begin_ns_ + kTimeBins - 1) / kTimeBins;
  }

  std::uint64_t begin_ns(std::size_t bin) const { return begin_ns_ + bin * width_ns_; }
  bool holds(std::uint64_t time_ns) const {
    return time_ns >= begin_ns_ && time_ns < begin_ns(kTimeBins);
  }
  std::size_t bin_of(std::uint64_t time_ns) const {
    return static_cast<std::size_t>((time_ns - begin_ns_) / width_ns_);
  }

  void add(std::uint64_t from_ns, std::uint64_t to_ns, BinCounts& counts) const {
    from_ns = std::max(from_ns, begin_ns_);
    to_ns = std::min(to_ns, begin_ns(kTimeBins));
    if (from_ns >= to_ns) return;
    for (std::size_t bin = bin_of(from_ns); from_ns < to_ns; ++bin) {
      const std::uint64_t until_ns = std::min(to_ns, begin_ns(bin + 1));
      counts[bin] += until_ns - from_ns;
      from_ns = until_ns;
    }
  }

 private:
  std::uint64_t begin_ns_ = 0, width_ns_ = 1;
};

void add_bin_columns(Table& table, const Bins& bins) {
  std::vector<std::size_t> numbers(kTimeBins);
  for (std::size_t i = 0; i < kTimeBins; ++i) numbers[i] = i;
  add_column(table, "bin_start_s", numbers,
             [&](std::size_t bin) { return base::seconds(bins.begin_ns(bin)); });
  add_column(table, "bin_end_s", numbers,
             [&](std::size_t bin) { return base::seconds(bins.begin_ns(bin + 1)); });
}

// At analysis process 0 the sums over all analysis processes.
std::vector<BinCounts> summed(Transport& transport, const std::vector<BinCounts>& counts) {
  const auto all = gathered(transport, counts);
  std::vector<BinCounts> sums(counts.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t bin = 0; bin < kTimeBins; ++bin) sums[i % sums.size()][bin] += all[i][bin];
  }
  return sums;
}

// Each moment belongs to the innermost open call of the thread; on the first thread, outside all
// calls, to the program.
class TimeCounter : public EventConsumer {
 public:
  TimeCounter(const trace::Definitions& definitions, const ScopeFilter& scope, const Bins& bins)
      : counts(definitions.functions.size() + 1),
        definitions_(definitions),
        scope_(scope),
        bins_(bins),
        states_(definitions.processes.size()) {}

  void events(std::uint32_t process, std::span<const Event> events) override {
    if (!scope_.process(process)) return;
    State& state = states_[process];
    for (const Event& event : events) {
      if (event.kind == EventKind::kEnter) {
        to(state, process, event.thread, event.time_ns);
        state.stacks.of(event.thread)
            .push_back({event.time_ns, 0, 0, event.function, -1, state.phases.now()});
      } else if (event.kind == EventKind::kLeave) {
        to(state, process, event.thread, event.time_ns);
        auto& open = state.stacks.of(event.thread);
        open.resize(open.size() - CallStacks::closed_by(open, event.function));
      } else {
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

  std::vector<BinCounts> counts;  // by function; the last is the program's

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
      if (thread == 0) state.since_ns[0] = definitions_.processes[process].first_ns;
    }
    const std::uint64_t from_ns = state.since_ns[thread];
    state.since_ns[thread] = time_ns;
    const bool in_program = open.empty();
    if ((in_program && thread != 0) ||
        !scope_.phase(in_program ? state.phases.now() : open.back().phase))
      return;
    bins_.add(from_ns, time_ns, in_program ? counts.back() : counts[open.back().function]);
  }

  const trace::Definitions& definitions_;
  const ScopeFilter& scope_;
  const Bins& bins_;
  std::vector<State> states_;
};

enum MessageColumn { kSentBytes, kSent, kReceivedBytes, kReceived, kMessageColumns };

class MessageCounter : public EventConsumer {
 public:
  MessageCounter(const trace::Definitions& definitions, const ScopeFilter& scope, const Bins& bins)
      : counts(2 * kMessageColumns),
        definitions_(definitions),
        scope_(scope),
        bins_(bins),
        phases_(definitions.processes.size()) {}

  void events(std::uint32_t process, std::span<const Event> events) override {
    if (!scope_.process(process)) return;
    PhaseStack& phases = phases_[process];
    for (const Event& event : events) {
      const bool sent = event.kind == EventKind::kMessageSent;
      if (!sent && event.kind != EventKind::kMessageReceived) {
        phases.take(event);
        continue;
      }
      if (!bins_.holds(event.time_ns) || !scope_.phase(phases.now())) continue;
      const bool hidden =
          event.code < definitions_.class_hidden.size() && definitions_.class_hidden[event.code];
      const std::size_t column =
          (hidden ? kMessageColumns : 0) + (sent ? kSentBytes : kReceivedBytes);
      const std::size_t bin = bins_.bin_of(event.time_ns);
      counts[column][bin] += event.bytes;
      ++counts[column + 1][bin];
    }
  }

  std::vector<BinCounts> counts;

 private:
  const trace::Definitions& definitions_;
  const ScopeFilter& scope_;
  const Bins& bins_;
  std::vector<PhaseStack> phases_;
};

// One pass over the events of all processes.
template <typename Counter>
base::Result<std::vector<BinCounts>> counted(const Input& input, const Bins& bins) {
  const ScopeFilter scope(input.scope, input.trace->definitions());
  Counter counter(input.trace->definitions(), scope, bins);
  JoinOptions options;
  options.steps = false;
  options.consumers = {&counter};
  const auto job = join_job(*input.trace, input.job->transport(), options);
  if (!job) return job.error();
  return summed(input.job->transport(), counter.counts);
}

bool empty(const BinCounts& counts) {
  return std::all_of(counts.begin(), counts.end(), [](std::uint64_t count) { return count == 0; });
}

}  // namespace

base::Result<Outcome> time_profile(const Input& input) {
  const trace::Definitions& definitions = input.trace->definitions();
  const Bins bins(definitions, input.scope);
  const auto counts = counted<TimeCounter>(input, bins);
  if (!counts) return counts.error();
  Outcome outcome;
  Table& table = outcome.section.table("time_profile");
  add_bin_columns(table, bins);
  for (std::size_t i = 0; i < counts->size(); ++i) {
    const bool program = i == definitions.functions.size();
    if (!program && empty((*counts)[i])) continue;
    add_column(table, program ? "(program)" : definitions.functions[i].name, (*counts)[i],
               [](std::uint64_t ns) { return base::seconds(ns); });
  }
  return outcome;
}

base::Result<Outcome> comm_over_time(const Input& input) {
  const Bins bins(input.trace->definitions(), input.scope);
  const auto counts = counted<MessageCounter>(input, bins);
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
  for (std::size_t i = 0; i < counts->size(); ++i) {
    add_column(table, kNames[i], (*counts)[i], [](std::uint64_t count) { return count; });
  }
  return outcome;
}

}  // namespace fathom::analysis

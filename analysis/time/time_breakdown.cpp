// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/time/time_breakdown.h"

#include <algorithm>
#include <array>
#include <map>

#include "analysis/calls/call_rows.h"
#include "analysis/engine/call_wait.h"
#include "analysis/engine/lazy_job.h"
#include "analysis/engine/parcels.h"
#include "analysis/scope/known_time.h"
#include "analysis/scope/scope_filter.h"
#include "analysis/scope/trace_span.h"
#include "analysis/time/flat_profile.h"
#include "base/seconds.h"

namespace fathom::analysis {
namespace {

// What a process spent in MPI, in the calls of its first thread that are recorded.
struct MpiTime {
  std::uint32_t process = 0, reserved = 0;
  std::uint64_t all_ns = 0;  // of the chosen phases
  std::array<std::uint64_t, kWaitKinds> waits_ns{};
  std::uint64_t transferring_ns = 0;
};

struct UnexplainedTime {
  std::uint32_t process = 0, function = 0;
  std::uint64_t ns = 0;
};

bool ends_with_transfer(const JoinedJob& job, std::uint32_t process, const Step& part) {
  if (part.kind != StepKind::kCollective) return true;
  return analysis::ends_with_transfer(
      job.facts().meaning_of(part, job.steps().at(process, part.call)).flow);
}

class MpiTimes {
 public:
  MpiTimes(const JoinedJob& job, const ScopeFilter& scope, const std::vector<TraceSpan>& programs)
      : job_(job), scope_(scope), programs_(programs) {}

  void count(std::uint32_t process) {
    MpiTime& time = times.emplace_back();
    time.process = process;
    const StepFile& steps = job_.steps();
    OpenWaits open(job_, process);
    std::map<std::uint32_t, std::uint64_t> unexplained_ns;
    // Backward, as in each_wait.h: what happens inside a call comes before the call.
    for (std::uint32_t number = steps.size(process); number-- > 0;) {
      if (number % StepFile::kBlockSteps == 0) job_.steps().touched(StepFile::kBlockSteps);
      const Step& step = steps.at(process, number);
      if (step.kind != StepKind::kCall) {
        open.add(number, step);
        continue;
      }
      if (step.thread == 0) explain(process, step, open.find(number));
      open.close(number);
      if (step.thread != 0 || step.has(kNested)) continue;
      unexplained_ns[step.number] += divide(step, time);
      parts_.clear();
    }
    for (const auto& [function, ns] : unexplained_ns) {
      if (ns > 0) unexplained.push_back({process, function, ns});
    }
  }

  std::vector<MpiTime> times;
  std::vector<UnexplainedTime> unexplained;

 private:
  // An explained part of an outermost call.
  struct Part {
    std::uint64_t from_ns = 0, to_ns = 0;
    std::uint64_t MpiTime::*transfer = nullptr;
    WaitKind wait{};
  };

  void explain(std::uint32_t process, const Step& call, const CallWait* known) {
    if (!known || known->completed().empty()) return;
    const mpi::Meaning& facts = job_.facts().functions[call.number];
    if (facts.immediate || (facts.polls && !call.has(kPolled))) return;
    const Wait wait = known->wait();
    const std::uint64_t until_ns = std::min(call.time_ns + wait.ns, call.end_ns);
    const bool transfer =
        std::all_of(known->completed().begin(), known->completed().end(), [&](std::uint32_t part) {
          return ends_with_transfer(job_, process, job_.steps().at(process, part));
        });
    if (wait.ns > 0) parts_.push_back({call.time_ns, until_ns, nullptr, wait.kind});
    if (transfer) parts_.push_back({until_ns, call.end_ns, &MpiTime::transferring_ns, {}});
  }

  // Adds an outermost call to its process's time; returns what is unexplained of it.
  std::uint64_t divide(const Step& call, MpiTime& time) {
    const TraceSpan& program = programs_[time.process];
    const auto counted_ns = [&](std::uint64_t from_ns, std::uint64_t to_ns) {
      return scope_.inside_ns(std::max(from_ns, program.from_ns), std::min(to_ns, program.to_ns));
    };
    if (!scope_.phase(call.partner)) return 0;
    const std::uint64_t all_ns = counted_ns(call.time_ns, call.end_ns);
    time.all_ns += all_ns;
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const Part& a, const Part& b) { return a.from_ns < b.from_ns; });
    std::uint64_t explained_ns = 0, covered_ns = call.time_ns;
    for (const Part& part : parts_) {
      const std::uint64_t from_ns = std::max(part.from_ns, covered_ns),
                          to_ns = std::min(part.to_ns, call.end_ns);
      if (to_ns <= from_ns) continue;
      const std::uint64_t ns = counted_ns(from_ns, to_ns);
      (part.transfer ? time.*part.transfer : time.waits_ns[static_cast<std::size_t>(part.wait)]) +=
          ns;
      explained_ns += ns;
      covered_ns = to_ns;
    }
    return all_ns - explained_ns;
  }

  const JoinedJob& job_;
  const ScopeFilter& scope_;
  const std::vector<TraceSpan>& programs_;
  std::vector<Part> parts_;  // of the outermost call and those inside it
};

// Puts together what steps and events say. Everything but the times in MPI is a remainder, so that
// the sum is exact.
class Breakdown {
 public:
  Breakdown(const Input& input, const JoinedJob& job)
      : input_(input),
        definitions_(job.definitions()),
        programs_(input.job->programs()),
        span_(span_of(programs_, definitions_, input.scope)) {
    found.span_ns = span_.ns();
    found.computing_known = known_time(definitions_, job.gaps()).computing;
  }

  void add(const std::vector<MpiTime>& times, const std::vector<CallRow>& calls) {
    std::map<std::uint32_t, std::uint64_t> program_ns;
    std::map<std::uint32_t, std::map<std::uint32_t, std::uint64_t>> sampled_ns;
    for (const CallRow& row : calls) {
      if (row.function == kProgram) {
        program_ns[row.process] = row.exclusive_ns;
      } else if (row.sampled_ns > 0) {
        sampled_ns[row.process][row.function] += row.sampled_ns;
      }
    }
    for (const MpiTime& time : times) add(time, program_ns[time.process], sampled_ns[time.process]);
    found.add(found.computing_known ? kComputing : kComputingOrMissing, computing_ns_);
    for (std::size_t kind = 0; kind < kWaitKinds; ++kind)
      found.add(mpi::name_of(static_cast<WaitKind>(kind)), waits_ns_[kind]);
    found.add(kTransferring, transferring_ns_);
    found.add(kUnexplained, unexplained_ns_);
    found.add(kStartUp, startup_ns_);
    found.add(kEnd, end_ns_);
    found.add(kOtherPhases, other_phases_ns_);
  }

  void add(const UnexplainedTime& row) {
    found.add_unexplained(definitions_.functions[row.function].name, row.ns);
  }

  TimeBreakdown found;

 private:
  void add(const MpiTime& time, std::uint64_t program_ns,
           const std::map<std::uint32_t, std::uint64_t>& sampled_ns) {
    const TraceSpan& program = programs_[time.process];
    const std::uint64_t from_ns = std::clamp(program.from_ns, span_.from_ns, span_.to_ns),
                        to_ns = std::clamp(program.to_ns, from_ns, span_.to_ns);
    std::uint64_t left_ns = to_ns - from_ns - std::min(time.all_ns, to_ns - from_ns);
    std::uint64_t sampled_sum_ns = 0;
    for (const auto& [function, ns] : sampled_ns) {
      const std::uint64_t counted_ns = std::min(ns, left_ns);
      found.add_unexplained(definitions_.functions[function].name, counted_ns);
      left_ns -= counted_ns;
      sampled_sum_ns += counted_ns;
    }
    // With chosen phases, the rest of the time outside MPI is that of others.
    const std::uint64_t computing_ns =
        input_.scope.phases ? std::min(program_ns, left_ns) : left_ns;
    TimeBreakdown::Rank rank{definitions_.processes[time.process].rank};
    rank.computing_ns = computing_ns;
    std::uint64_t explained_ns = time.transferring_ns;
    for (std::size_t kind = 0; kind < kWaitKinds; ++kind) {
      waits_ns_[kind] += time.waits_ns[kind];
      rank.waiting_ns += time.waits_ns[kind];
    }
    explained_ns += rank.waiting_ns;
    rank.transferring_ns = time.transferring_ns;
    rank.unexplained_ns = time.all_ns - explained_ns + sampled_sum_ns;
    rank.outside_ns = span_.ns() - (to_ns - from_ns) + left_ns - computing_ns;
    found.ranks.push_back(rank);
    computing_ns_ += computing_ns;
    transferring_ns_ += time.transferring_ns;
    unexplained_ns_ += rank.unexplained_ns;
    startup_ns_ += from_ns - span_.from_ns;
    end_ns_ += span_.to_ns - to_ns;
    other_phases_ns_ += left_ns - computing_ns;
  }

  const Input& input_;
  const trace::Definitions& definitions_;
  const std::vector<TraceSpan>& programs_;
  const TraceSpan span_;
  std::array<std::uint64_t, kWaitKinds> waits_ns_{};
  std::uint64_t computing_ns_ = 0, transferring_ns_ = 0, unexplained_ns_ = 0, startup_ns_ = 0,
                end_ns_ = 0, other_phases_ns_ = 0;
};

// What comes before and after the span of a whole run, and belongs to no share.
void lay_out_start(const Input& input, Section& section) {
  if (!input.scope.whole_time()) return;
  const trace::Definitions& definitions = input.trace->definitions();
  const TraceSpan span = span_of(input.job->programs(), definitions, input.scope);
  const trace::Process *first = nullptr, *last = nullptr;
  std::uint64_t last_ns = 0;
  for (const std::uint32_t process : ScopeFilter(input.scope, definitions).chosen()) {
    const trace::Process& facts = definitions.processes[process];
    if (!first || facts.first_ns < first->first_ns) first = &facts;
    if (!last || facts.first_ns > last->first_ns) last = &facts;
    last_ns = std::max(last_ns, facts.last_ns);
  }
  if (!first) return;
  section.figure("startup_seconds",
                 base::seconds(span.from_ns - std::min(first->first_ns, span.from_ns)));
  section.figure("startup_skew_seconds", base::seconds(last->first_ns - first->first_ns));
  section.figure("last_to_start", last->rank);
  section.figure("end_seconds", base::seconds(last_ns - std::min(last_ns, span.to_ns)));
}

}  // namespace

base::Result<Outcome> time_breakdown(const Input& input) {
  if (!input.trace) return time_breakdown_of_profile(input);
  const auto calls = call_rows(input);
  if (!calls) return calls.error();
  auto joined = input.job->joined();
  if (!joined) return joined.error();
  const JoinedJob& job = **joined;
  const ScopeFilter scope(input.scope, job.definitions());
  MpiTimes own(job, scope, input.job->programs());
  for (const std::uint32_t process : job.own()) {
    if (scope.process(process)) own.count(process);
  }
  auto times = gathered(job.transport(), own.times);
  std::sort(times.begin(), times.end(),
            [](const MpiTime& a, const MpiTime& b) { return a.process < b.process; });
  Breakdown breakdown(input, job);
  breakdown.add(times, *calls);
  for (const UnexplainedTime& row : gathered(job.transport(), own.unexplained)) breakdown.add(row);
  Outcome outcome;
  lay_out(std::move(breakdown.found), outcome.section);
  lay_out_start(input, outcome.section);
  return outcome;
}

}  // namespace fathom::analysis

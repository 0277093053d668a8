// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/path/path_metrics.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/engine/call_wait.h"
#include "analysis/engine/causal_walk.h"

namespace fathom::analysis {
namespace {

constexpr std::uint64_t kOne = std::uint64_t{1} << kFractionBits;

std::uint64_t log2_of(std::size_t processes) {
  return static_cast<std::uint64_t>(std::llround(log2_of_size(processes) * kOne));
}

std::uint64_t& at(Costs& costs, PathMetric metric) {
  return costs[static_cast<std::size_t>(metric)];
}

class Follow {
 public:
  struct Payload {
    Costs path{};
    std::array<std::array<std::uint64_t, kRoutines>, kPathMetrics> by_routine{};
    std::uint64_t bytes = 0,
                  most_bytes = 0;  // of collectives: bytes of all merged members; largest of one
  };

  Follow(JoinedJob& job, const TransferModel& model)
      : job_(job), model_(model), states_(job.mapping().size()) {
    for (const mpi::Meaning& meaning : job.facts().functions) {
      routines_.push_back(routine_of(meaning));
      const bool may_wait = meaning.sequence != mpi::Sequence::kNone ||
                            meaning.epoch != mpi::Epoch::kNone ||
                            meaning.lock != mpi::LockStep::kNone;
      waits_only_.push_back(!communicates(routine_of(meaning)) && !meaning.begins_job && may_wait);
      starts_.push_back(meaning.begins_job);
      stops_.push_back(meaning.ends_job);
    }
    for (const auto& members : job.facts().members) log2_.push_back(log2_of(members.size()));
  }

  void step(std::uint32_t process, std::uint32_t number, const Step& step) {
    if (step.thread != 0) return;  // only the first thread computes; others would count twice
    State& state = states_[process];
    if (step.kind == StepKind::kCall) return call(process, state, step);
    if (step.kind == StepKind::kLost || !state.open || step.call == kNobody ||
        step.call != state.open->number)
      return;
    part(process, state, number, step);
  }

  Payload give(std::uint32_t process, const Step& part) {
    const State& state = states_[process];
    Payload payload = state.on_path;
    payload.bytes = payload.most_bytes =
        part.kind == StepKind::kCollective ? job_.steps().at(process, part.call).bytes : 0;
    return payload;
  }

  void take(std::uint32_t process, const Step& part, const Payload& payload) {
    State& state = states_[process];
    better(state.on_path, payload);
    if (part.kind != StepKind::kCollective || !state.open) return;
    state.open->taken_bytes = payload.bytes;
    state.open->most_bytes = payload.most_bytes;
  }

  static void merge(Payload& into, const Payload& other) {
    better(into, other);
    into.bytes += other.bytes;
    into.most_bytes = std::max(into.most_bytes, other.most_bytes);
  }

  struct OfProcess {
    std::uint32_t process = 0, reserved = 0;
    Payload path;
    Costs own{};
    std::array<Costs, kRoutines> own_by_routine{};
    std::uint64_t idle_ns = 0;
  };

  const TransferModel& model() const { return model_; }

  OfProcess finish(std::uint32_t process) {
    State& state = states_[process];
    charge(process, state);
    OfProcess one;
    one.process = process;
    one.path = state.on_path;
    one.own = state.own;
    one.own_by_routine = state.own_by_routine;
    one.idle_ns = state.idle_ns;
    return one;
  }

 private:
  // Messages completed by one call and begun by calls of one routine.
  struct Messages {
    Routine routine = Routine::kOther;
    std::uint64_t sent = 0, received = 0, count = 0;
  };

  // The current call, whose cost is known when the next begins.
  struct Open {
    Open(const JoinedJob& job, std::uint32_t process, std::uint32_t step)
        : number(step), wait(job, process, step) {}
    std::uint32_t number;
    CallWait wait;
    std::vector<Messages> messages;
    std::uint64_t taken_bytes = 0, most_bytes = 0;  // by the collectives of this call
    std::vector<std::uint32_t> collectives;         // completed here: their kCollective
  };
  struct State {
    Payload on_path;
    Costs own{};
    std::array<Costs, kRoutines> own_by_routine{};
    std::uint64_t idle_ns = 0;
    std::uint64_t counted_to_ns = 0;
    bool started = false, stopped = false;
    std::optional<Open> open;
  };

  // Each metric follows its own path.
  static void better(Payload& into, const Payload& other) {
    for (std::size_t metric = 0; metric < kPathMetrics; ++metric) {
      if (other.path[metric] <= into.path[metric]) continue;
      into.path[metric] = other.path[metric];
      into.by_routine[metric] = other.by_routine[metric];
    }
  }

  // Routines whose value of a metric is 0 are skipped: most are.
  static void add(State& state, Routine routine, const Costs& costs) {
    const auto row = static_cast<std::size_t>(routine);
    for (std::size_t metric = 0; metric < kPathMetrics; ++metric) {
      if (costs[metric] == 0) continue;
      state.on_path.path[metric] += costs[metric];
      state.on_path.by_routine[metric][row] += costs[metric];
      state.own[metric] += costs[metric];
      state.own_by_routine[row][metric] += costs[metric];
    }
  }

  static void compute_until(State& state, std::uint64_t time_ns) {
    if (!state.started || state.stopped || time_ns <= state.counted_to_ns) return;
    Costs costs{};
    at(costs, PathMetric::kComputationTime) = at(costs, PathMetric::kRunTime) =
        time_ns - state.counted_to_ns;
    add(state, Routine::kComputation, costs);
    state.counted_to_ns = time_ns;
  }

  void call(std::uint32_t process, State& state, const Step& step) {
    if (step.has(kNested)) return;
    charge(process, state);
    if (starts_[step.number]) {
      state.started = true;
      state.counted_to_ns = step.end_ns;
    }
    if (!state.started) {  // a trace that starts late
      state.started = true;
      state.counted_to_ns = step.time_ns;
    }
    const Routine routine = routines_[step.number];
    if (stops_[step.number]) compute_until(state, step.time_ns), state.stopped = true;
    if ((!communicates(routine) && !waits_only_[step.number]) || state.stopped) return;
    compute_until(state, step.time_ns);
    state.open.emplace(job_, process, step.posted);
  }

  void part(std::uint32_t process, State& state, std::uint32_t number, const Step& step) {
    Open& open = *state.open;
    if (step.kind == StepKind::kProbe) return open.wait.add(number, step);
    const std::uint32_t complete = completed_with(number, step);
    if (complete == kNobody) return;
    const Step& what = job_.steps().at(process, complete);
    if (what.has(kHidden)) return open.wait.add(number, step);
    if (what.kind == StepKind::kCollective) {
      // What a persistent one moves, the call that starts it does not say.
      if (what.has(kJoined) && !PersistentName::is_one(what.object))
        open.collectives.push_back(complete);
    } else {
      Messages& messages = begun_by(process, open, what.posted);
      (what.kind == StepKind::kSend ? messages.sent : messages.received) += what.bytes;
      ++messages.count;
    }
    open.wait.add(number, step);
  }

  Messages& begun_by(std::uint32_t process, Open& open, std::uint32_t call) const {
    const std::uint32_t begun_in = call == kNobody ? open.number : call;
    const Routine routine = routines_[job_.steps().at(process, begun_in).number];
    for (Messages& messages : open.messages) {
      if (messages.routine == routine) return messages;
    }
    open.messages.push_back({routine, 0, 0, 0});
    return open.messages.back();
  }

  // Windows and files have no costs in the model, so their calls count as the program's time, except
  // what they waited.
  void leave_out_wait(State& state, const Step& call) {
    const std::uint64_t wait_ns = state.open->wait.wait().ns;
    state.idle_ns += wait_ns;
    state.counted_to_ns = std::max(state.counted_to_ns, call.time_ns + wait_ns);
    state.open.reset();
  }

  // Volume counts for the routine that began it, time for the routine in which it was spent.
  void charge(std::uint32_t process, State& state) {
    if (!state.open) return;
    const Open& open = *state.open;
    const Step& call = job_.steps().at(process, open.number);
    if (waits_only_[call.number]) return leave_out_wait(state, call);
    bool superstep = true, moves = false;
    const auto charge_part = [&](Routine routine, Costs costs) {
      at(costs, PathMetric::kBspSynchronisation) = superstep ? kOne : 0;
      superstep = false;
      moves = moves || at(costs, PathMetric::kBytes) > 0;
      estimate(costs);
      add(state, routine, costs);
    };
    for (const Messages& messages : open.messages)
      charge_part(messages.routine, message_costs(messages));
    for (const std::uint32_t collective : open.collectives) {
      const std::uint32_t begun_in = job_.steps().at(process, collective).call;
      const Routine routine = routines_[job_.steps().at(process, begun_in).number];
      charge_part(routine, collective_costs(process, open, collective));
    }
    const std::uint64_t duration_ns =
        call.end_ns - std::min(call.end_ns, std::max(call.time_ns, state.counted_to_ns));
    const std::uint64_t wait_ns = std::min(open.wait.wait().ns, duration_ns);
    Costs times{};
    at(times, PathMetric::kCommunicationTime) = at(times, PathMetric::kRunTime) =
        duration_ns - wait_ns;
    at(times, moves ? PathMetric::kDataMovementTime : PathMetric::kSynchronisationTime) =
        duration_ns - wait_ns;
    add(state, routines_[call.number], times);
    state.idle_ns += wait_ns;
    state.counted_to_ns = std::max(state.counted_to_ns, call.end_ns);
    state.open.reset();
  }

  // Multiplies the coefficients into time.
  void estimate(Costs& costs) const {
    const auto time_ns = [&](PathMetric alphas, PathMetric betas) {
      return static_cast<std::uint64_t>(
          std::llround((model_.alpha_ns * static_cast<double>(at(costs, alphas)) +
                        model_.beta_ns_per_byte * static_cast<double>(at(costs, betas))) /
                       kOne));
    };
    at(costs, PathMetric::kEstimatedTime) =
        time_ns(PathMetric::kSynchronisation, PathMetric::kCommunication);
    at(costs, PathMetric::kBspTime) =
        time_ns(PathMetric::kBspSynchronisation, PathMetric::kBspCommunication);
  }

  static Costs message_costs(const Messages& all) {
    const bool both = all.routine == Routine::kSendReceive;
    const std::uint64_t bytes = both ? std::max(all.sent, all.received) : all.sent + all.received;
    const std::uint64_t messages = both ? 1 : all.count;
    Costs costs{};
    at(costs, PathMetric::kBytes) = bytes;
    at(costs, PathMetric::kMessages) = messages;
    at(costs, PathMetric::kCommunication) = at(costs, PathMetric::kBspCommunication) =
        bytes << kFractionBits;
    at(costs, PathMetric::kSynchronisation) = messages << kFractionBits;
    return costs;
  }

  Costs collective_costs(std::uint32_t process, const Open& open, std::uint32_t number) const {
    const Step& part = job_.steps().at(process, number);
    const Step& call = job_.steps().at(process, part.call);
    const Routine routine = routines_[call.number];
    const std::uint32_t tree = tree_terms(routine);
    const auto communicator = static_cast<std::size_t>(part.communicator);
    const std::uint64_t log2 = log2_[communicator],
                        size = job_.facts().members[communicator].size();
    std::uint64_t bytes = call.bytes;
    if (routine == Routine::kBcast || routine == Routine::kScatter)
      bytes = std::max(bytes, open.most_bytes);
    if (routine == Routine::kGather || routine == Routine::kAllgather) {
      bytes = std::max(call.bytes * size, routine == Routine::kAllgather
                                              ? open.taken_bytes
                                              : open.taken_bytes + call.bytes);
    }
    if (routine == Routine::kBarrier || routine == Routine::kCommunicator) bytes = 0;
    Costs costs{};
    at(costs, PathMetric::kBytes) = bytes;
    at(costs, PathMetric::kMessages) = 1;
    at(costs, PathMetric::kSynchronisation) = tree * log2;
    at(costs, PathMetric::kCommunication) =
        routine == Routine::kAlltoall ? bytes * log2 : tree * bytes << kFractionBits;
    at(costs, PathMetric::kBspCommunication) = bytes << kFractionBits;
    return costs;
  }

  JoinedJob& job_;
  const TransferModel model_;
  std::vector<State> states_;
  std::vector<Routine> routines_;                  // by function
  std::vector<bool> waits_only_, starts_, stops_;  // by function
  std::vector<std::uint64_t> log2_;                // by communicator
};

PathMetrics sum_up(JoinedJob& job, Follow& follow) {
  PathMetrics all;
  all.model = follow.model();
  std::vector<Follow::OfProcess> own;
  for (const std::uint32_t process : job.own()) own.push_back(follow.finish(process));
  auto processes = gathered(job.transport(), own);
  std::sort(processes.begin(), processes.end(),
            [](const auto& a, const auto& b) { return a.process < b.process; });
  all.processes = processes.size();
  for (const Follow::OfProcess& one : processes) {
    for (std::size_t metric = 0; metric < kPathMetrics; ++metric) {
      all.most[metric] = std::max(all.most[metric], one.own[metric]);
      all.sum[metric] += one.own[metric];
      for (std::size_t routine = 0; routine < kRoutines; ++routine) {
        all.sum_by_routine[routine][metric] += one.own_by_routine[routine][metric];
      }
      if (one.path.path[metric] <= all.path[metric]) continue;
      all.path[metric] = one.path.path[metric];
      all.ends_at[metric] = one.process;
      for (std::size_t routine = 0; routine < kRoutines; ++routine) {
        all.path_by_routine[routine][metric] = one.path.by_routine[metric][routine];
      }
    }
    all.most_idle_ns = std::max(all.most_idle_ns, one.idle_ns);
    all.sum_idle_ns += one.idle_ns;
  }
  return all;
}

}  // namespace

const char* name_of(PathMetric metric) {
  constexpr const char* kNames[kPathMetrics] = {"bytes",
                                                "messages",
                                                "est_communication",
                                                "est_synchronisation",
                                                "bsp_communication",
                                                "bsp_synchronisation",
                                                "communication_s",
                                                "synchronisation_s",
                                                "data_movement_s",
                                                "computation_s",
                                                "run_s",
                                                "est_s",
                                                "bsp_s"};
  return kNames[static_cast<std::size_t>(metric)];
}

double shown(PathMetric metric, std::uint64_t value) {
  const auto number = static_cast<double>(value);
  if (metric <= PathMetric::kMessages) return number;
  return metric <= PathMetric::kBspSynchronisation ? number / static_cast<double>(kOne)
                                                   : number * 1e-9;
}

PassTo<PathMetrics> path_metrics_pass(JoinedJob& job) {
  auto follow = std::make_shared<Follow>(job, fit_transfers(job));
  auto walk = std::make_shared<CausalWalk<Follow>>(job, *follow, Direction::kForward);
  return {walk, [&job, follow, walk] {
            PathMetrics all = sum_up(job, *follow);
            all.released = walk->released();
            return all;
          }};
}

}  // namespace fathom::analysis

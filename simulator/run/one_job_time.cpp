// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/run/one_job_time.h"

#include <algorithm>
#include <utility>

#include "simulator/flow/phases.h"
#include "simulator/placement/placed_routes.h"
#include "simulator/run/json_fields.h"

namespace fathom::simulator {
namespace {

using base::JsonWriter;

// Short, because LinkUsage only ever doubles its intervals.
constexpr double kFirstInterval_s = 1e-6;

TimedRun named_after(const Choice& choice) {
  TimedRun run;
  run.selection = selection_name(choice);
  run.placement = placement_name(choice);
  run.routing = choice.router->name;
  run.seed = choice.seed;
  return run;
}

// What both models need: the placed job's paths, and the links that carry it.
struct Ready {
  PlacedRoutes routes;
  FlowModel flows;
};

// LinkUsage keeps kTimedIntervals numbers for each: some 4 GB for these.
constexpr std::uint64_t kMostTimedLinks = 1 << 22, kMostTimedProcessors = 1 << 22;

base::Status check_count(const std::string& what, std::uint64_t count, std::uint64_t most) {
  if (count <= most) return base::Done{};
  return base::Error{what + " " + std::to_string(count) + "; at most " + std::to_string(most) +
                     " can be simulated in time; model load has no such limit"};
}

base::Result<Ready> prepare(const Network& network, const Job& job, const Choice& choice) {
  const std::string links = "the links of '" + network.name() + "' are";
  if (auto fits = check_count(links, network.link_count(), kMostTimedLinks); !fits)
    return fits.error();
  const auto placed = place_job(network, job, choice);
  if (!placed) return placed.error();
  auto routes = PlacedRoutes::make(network, job, placed->placement, *choice.router, choice.seed,
                                   LinkUse(network));
  if (!routes) return routes.error();
  auto flows = FlowModel::create(link_speeds(network));
  if (!flows) return flows.error();
  return Ready{std::move(*routes), std::move(*flows)};
}

void put_phases(base::JsonWriter& json, const TimedRun& run) {
  json.objects("phases", run.phases, [&](const PhaseOutcome& phase) {
    json.field("phase", phase.name);
    put_number(json, "bytes", phase.bytes);
    put_number(json, "start_s", phase.start_s);
    put_number(json, "end_s", phase.end_s);
  });
}

void put_ranks(base::JsonWriter& json, const ReplayResult& replay) {
  json.field("messages", replay.messages);
  json.field("events", replay.events);
  json.field("unreceived", replay.unreceived);
  json.objects("ranks", replay.ranks, [&](const RankTimes& rank) {
    put_number(json, "end_s", rank.end_ns * 1e-9);
    put_number(json, "compute_s", rank.compute_ns * 1e-9);
    put_number(json, "overhead_s", rank.overhead_ns * 1e-9);
    put_number(json, "wait_s", wait_ns(rank) * 1e-9);
  });
}

}  // namespace

base::Result<TimedRun> run_flows(const Network& network, const Job& whole,
                                 std::span<const Job> phases, const Choice& choice) {
  auto ready = prepare(network, whole, choice);
  if (!ready) return ready.error();
  TimedRun run = named_after(choice);
  run.usage = std::make_unique<LinkUsage>(network.link_count(), kTimedIntervals, kFirstInterval_s);
  ready->flows.keep_usage(run.usage.get());
  PhasedJob job{0, {}};
  for (const Job& phase : phases) job.phases.push_back(ready->routes.phase(phase, 0));
  const auto times = run_together(ready->flows, {&job, 1});
  if (!times) return times.error();
  run.seconds = times->front().duration_s;
  run.usage->bring_to(run.seconds);
  for (std::size_t at = 0; at < phases.size(); ++at) {
    double bytes = 0;
    for (const profile::PairCount& pair : phases[at].pairs)
      bytes += static_cast<double>(pair.bytes);
    const PhaseTime& time = times->front().phases[at];
    run.phases.push_back({phases[at].name, bytes, time.start_s, time.end_s});
  }
  return run;
}

base::Result<TimedRun> run_replay(const Network& network, const Job& job, const Program& program,
                                  const LogGops& machine, const Choice& choice) {
  const std::uint64_t processors = std::uint64_t{program.rank_count()} * processor_count(program);
  if (auto fits = check_count("the program's processors are", processors, kMostTimedProcessors);
      !fits)
    return fits.error();
  auto ready = prepare(network, job, choice);
  if (!ready) return ready.error();
  TimedRun run = named_after(choice);
  run.usage = std::make_unique<LinkUsage>(network.link_count(), kTimedIntervals, kFirstInterval_s);
  ready->flows.keep_usage(run.usage.get());
  const ReplayNetwork links = ready->routes.replay_network(ready->flows);
  run.busy = std::make_unique<LinkUsage>(processors, kTimedIntervals, kFirstInterval_s);
  auto replayed = replay(program, machine, &links, run.busy.get());
  if (!replayed) return replayed.error();
  run.replay = std::move(*replayed);
  run.seconds = run.replay.end_ns * 1e-9;
  run.usage->bring_to(std::max(run.seconds, ready->flows.now_s()));
  return run;
}

std::vector<Waiting> waiting_over_time(const TimedRun& run) {
  std::vector<Waiting> result;
  if (!run.busy || run.replay.ranks.empty()) return result;
  const std::size_t processors = run.busy->links() / run.replay.ranks.size();
  const double length_s = run.busy->interval_s();
  for (std::size_t at = 0;
       at < run.busy->intervals() && static_cast<double>(at) * length_s < run.seconds; ++at) {
    const double from_s = static_cast<double>(at) * length_s,
                 to_s = std::min(from_s + length_s, run.seconds);
    double waited_s = 0;
    for (std::size_t rank = 0; rank < run.replay.ranks.size(); ++rank) {
      double idle_s = std::clamp(run.replay.ranks[rank].end_ns * 1e-9 - from_s, 0.0, to_s - from_s);
      for (std::size_t processor = 0; processor < processors; ++processor) {
        idle_s -= run.busy->bytes(static_cast<std::uint32_t>(rank * processors + processor), at);
      }
      waited_s += std::max(idle_s, 0.0);
    }
    result.push_back({from_s, to_s, waited_s / (to_s - from_s)});
  }
  return result;
}

std::string timed_json(const Network& network, const std::string& job, const TimedRun& run,
                       bool host_links) {
  return base::json_text(0, [&](base::JsonWriter& json) {
    json.field("cluster", network.name());
    json.field("job", job);
    json.field("selection", run.selection);
    json.field("placement", run.placement);
    json.field("routing", run.routing);
    json.field("model", run.phases.empty() ? "replay" : "flow");
    json.field("seed", run.seed);
    json.field("host_links", host_links);
    put_number(json, "seconds", run.seconds);
    std::vector<double> bytes(network.link_count());
    for (LinkId id = 0; id < network.link_count(); ++id) bytes[id] = run.usage->total_bytes(id);
    put_spread(json, network, bytes, host_links);
    run.phases.empty() ? put_ranks(json, run.replay) : put_phases(json, run);
    put_links(json, network, host_links, [&](LinkId id) {
      put_number(json, "traffic", bytes[id]);
      put_number(json, "utilisation",
                 run.seconds > 0 ? bytes[id] / network.link(id).capacity_Bps / run.seconds : 0);
    });
  });
}

}  // namespace fathom::simulator

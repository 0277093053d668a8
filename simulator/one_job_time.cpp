#include "simulator/one_job_time.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <utility>

#include "simulator/json_fields.h"
#include "simulator/phases.h"
#include "simulator/placed_routes.h"

namespace fathom::simulator {
namespace {

using Json = rapidjson::Writer<rapidjson::StringBuffer>;

constexpr double kFirstInterval_s = 1e-6;

TimedRun named_after(const Choice& choice) {
  TimedRun run;
  run.selection = selection_name(choice);
  run.placement = placement_name(choice);
  run.routing = choice.router->name;
  run.seed = choice.seed;
  return run;
}

// What both models need: the ways of the placed job, and links to carry it.
struct Ready {
  PlacedRoutes routes;
  FlowModel flows;
};

base::Result<Ready> prepare(const Network& network, const Job& job, const Choice& choice) {
  const auto placed = place_job(network, job, choice);
  if (!placed) return placed.error();
  auto routes = PlacedRoutes::make(network, job, placed->placement, *choice.router, choice.seed, LinkUse(network));
  if (!routes) return routes.error();
  auto flows = FlowModel::create(link_speeds(network));
  if (!flows) return flows.error();
  return Ready{std::move(*routes), std::move(*flows)};
}

void put_phases(Json& json, const TimedRun& run) {
  json.Key("phases");
  json.StartArray();
  for (const PhaseOutcome& phase : run.phases) {
    json.StartObject();
    put_text(json, "phase", phase.name);
    put_number(json, "bytes", phase.bytes);
    put_number(json, "start_s", phase.start_s);
    put_number(json, "end_s", phase.end_s);
    json.EndObject();
  }
  json.EndArray();
}

void put_ranks(Json& json, const ReplayResult& replay) {
  put_number(json, "messages", static_cast<double>(replay.messages));
  put_number(json, "events", static_cast<double>(replay.events));
  put_number(json, "unreceived", static_cast<double>(replay.unreceived));
  json.Key("ranks");
  json.StartArray();
  for (const RankTimes& rank : replay.ranks) {
    json.StartObject();
    put_number(json, "end_s", rank.end_ns * 1e-9);
    put_number(json, "compute_s", rank.compute_ns * 1e-9);
    put_number(json, "overhead_s", rank.overhead_ns * 1e-9);
    put_number(json, "wait_s", wait_ns(rank) * 1e-9);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

base::Result<TimedRun> run_flows(const Network& network, const Job& whole, std::span<const Job> phases,
                                 const Choice& choice) {
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
    for (const profile::PairCount& pair : phases[at].pairs) bytes += static_cast<double>(pair.bytes);
    const PhaseTime& time = times->front().phases[at];
    run.phases.push_back({phases[at].name, bytes, time.start_s, time.end_s});
  }
  return run;
}

base::Result<TimedRun> run_replay(const Network& network, const Job& job, const Program& program,
                                  const LogGops& machine, const Choice& choice) {
  auto ready = prepare(network, job, choice);
  if (!ready) return ready.error();
  TimedRun run = named_after(choice);
  run.usage = std::make_unique<LinkUsage>(network.link_count(), kTimedIntervals, kFirstInterval_s);
  ready->flows.keep_usage(run.usage.get());
  const ReplayNetwork links = ready->routes.replay_network(ready->flows);
  run.busy = std::make_unique<LinkUsage>(program.rank_count() * processor_count(program), kTimedIntervals, kFirstInterval_s);
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
  for (std::size_t at = 0; at < run.busy->intervals() && static_cast<double>(at) * length_s < run.seconds; ++at) {
    const double from_s = static_cast<double>(at) * length_s, to_s = std::min(from_s + length_s, run.seconds);
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

std::string timed_json(const Network& network, const std::string& job, const TimedRun& run, bool host_links) {
  rapidjson::StringBuffer text;
  Json json(text);
  json.StartObject();
  put_text(json, "cluster", network.name());
  put_text(json, "job", job);
  put_text(json, "selection", run.selection);
  put_text(json, "placement", run.placement);
  put_text(json, "routing", run.routing);
  put_text(json, "model", run.phases.empty() ? "replay" : "flow");
  json.Key("seed");
  json.Uint64(run.seed);
  put_number(json, "seconds", run.seconds);
  if (run.phases.empty()) {
    put_ranks(json, run.replay);
  } else {
    put_phases(json, run);
  }
  json.Key("links");
  json.StartArray();
  for (LinkId id = 0; id < network.link_count(); ++id) {
    if (!host_links && !network.joins_switches(id)) continue;
    const Link& link = network.link(id);
    const double bytes = run.usage->total_bytes(id);
    json.StartObject();
    put_text(json, "source", network.node_name(link.source));
    put_text(json, "target", network.node_name(link.target));
    put_number(json, "capacity", link.capacity_Bps);
    put_number(json, "traffic", bytes);
    put_number(json, "utilisation", run.seconds > 0 ? bytes / link.capacity_Bps / run.seconds : 0);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return {text.GetString(), text.GetSize()};
}

}  // namespace fathom::simulator

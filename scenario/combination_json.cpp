// How a run stands in results.json.
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <limits>

#include "scenario/combination.h"
#include "simulator/json_fields.h"

namespace fathom::scenario {
namespace {

using simulator::put_number;
using simulator::put_text;
using Json = rapidjson::Writer<rapidjson::StringBuffer>;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

void put_summary(Json& json, const char* key, const Summary& summary) {
  json.Key(key);
  json.StartObject();
  put_number(json, "mean", summary.count > 0 ? summary.mean : kUnknown);
  put_number(json, "max", summary.count > 0 ? summary.max : kUnknown);
  json.EndObject();
}

void put_over_time(Json& json, const char* key, const simulator::TimeWeighted& value) {
  json.Key(key);
  json.StartObject();
  put_number(json, "mean", value.mean());
  put_number(json, "deviation", value.deviation());
  put_number(json, "min", value.min());
  put_number(json, "max", value.max());
  json.EndObject();
}

void put_choice(Json& json, const CombinationRun& run) {
  const Scenario& scenario = *run.scenario;
  std::string names;
  for (const JobEntry& entry : scenario.jobs) names += (names.empty() ? "" : "+") + entry_name(entry);
  put_text(json, "cluster", run.cluster->name());
  put_text(json, "job", names);
  put_text(json, "scheduler", scenario.choice.scheduler->name);
  put_text(json, "selection", scenario.choice.selector->name);
  put_text(json, "placement", scenario.choice.mapper->name);
  put_text(json, "routing", scenario.choice.router->name);
  put_text(json, "model", scenario.choice.model == simulator::RunModel::kFlow ? "flow" : "load");
  json.Key("seed");
  json.Uint64(scenario.choice.seed);
  json.Key("host_links");
  json.Bool(scenario.choice.host_links);
  json.Key("varied");
  json.StartObject();
  for (const auto& [key, value] : scenario.varied) put_text(json, key.c_str(), value);
  json.EndObject();
}

void put_statistics(Json& json, const CombinationRun& run) {
  const simulator::ScheduledRun& outcome = run.outcome;
  const JobSummaries jobs = summarize(run);
  double max_traffic = 0;
  for (const simulator::SystemState& state : outcome.timeline) {
    max_traffic = std::max(max_traffic, state.max_traffic);
  }
  put_number(json, "max_traffic", max_traffic);
  put_number(json, "max_congestion", outcome.max_congestion.max());
  put_number(json, "max_flows", outcome.max_flows.max());
  put_number(json, "mean_congestion", outcome.mean_congestion.mean());
  put_number(json, "congestion_deviation", outcome.congestion_deviation.mean());
  put_number(json, "end_s", outcome.end_s);
  put_number(json, "jobs_arrived", static_cast<double>(run.arrivals.size()));
  put_number(json, "jobs_started", static_cast<double>(jobs.started));
  put_number(json, "jobs_ended", static_cast<double>(jobs.ended));
  put_summary(json, "wait_s", jobs.wait_s);
  put_summary(json, "response_s", jobs.response_s);
  put_summary(json, "slow_down", jobs.slow_down);
  put_summary(json, "bounded_slow_down", jobs.bounded_slow_down);
  if (jobs.contention.count > 0) put_summary(json, "contention", jobs.contention);
  json.Key("over_time");
  json.StartObject();
  put_over_time(json, "max_congestion", outcome.max_congestion);
  put_over_time(json, "mean_congestion", outcome.mean_congestion);
  put_over_time(json, "congestion_deviation", outcome.congestion_deviation);
  put_over_time(json, "max_flows", outcome.max_flows);
  put_over_time(json, "waiting", outcome.waiting);
  put_over_time(json, "running", outcome.running);
  put_over_time(json, "busy_slots", outcome.busy_slots);
  json.EndObject();
}

void put_job(Json& json, const CombinationRun& run, std::size_t number) {
  const simulator::JobOutcome& job = run.outcome.jobs[number];
  const simulator::Arrival& arrival = run.arrivals[number].arrival;
  const bool started = job.start_s != simulator::kNotYet, ended = job.end_s != simulator::kNotYet;
  json.StartObject();
  put_text(json, "job", entry_name(run.scenario->jobs[run.arrivals[number].entry]));
  put_number(json, "ranks", static_cast<double>(arrival.job->ranks));
  put_number(json, "hosts", started ? job.hosts : kUnknown);
  put_number(json, "submit_s", arrival.submit_s);
  put_number(json, "start_s", started ? job.start_s : kUnknown);
  put_number(json, "end_s", ended ? job.end_s : kUnknown);
  put_number(json, "wait_s", started ? job.wait_s(arrival) : kUnknown);
  put_number(json, "response_s", ended ? job.response_s(arrival) : kUnknown);
  put_number(json, "slow_down", ended ? job.slow_down(arrival) : kUnknown);
  put_number(json, "bounded_slow_down", ended ? job.bounded_slow_down(arrival) : kUnknown);
  if (job.alone_s > 0) put_number(json, "contention", ended ? job.run_s() / job.alone_s : kUnknown);
  json.EndObject();
}

void put_link(Json& json, const CombinationRun& run, simulator::LinkId id) {
  const simulator::Link& link = run.cluster->link(id);
  json.StartObject();
  put_text(json, "source", run.cluster->node_name(link.source));
  put_text(json, "target", run.cluster->node_name(link.target));
  put_number(json, "capacity", link.capacity_Bps);
  put_number(json, "traffic", run.outcome.links.peak_bytes(id));
  put_number(json, "flows", run.outcome.links.peak_flows(id));
  put_number(json, "mean_traffic", run.outcome.links.mean_bytes(id));
  json.EndObject();
}

}  // namespace

std::string run_json(const CombinationRun& run) {
  rapidjson::StringBuffer text;
  Json json(text);
  json.StartObject();
  put_choice(json, run);
  put_statistics(json, run);
  json.Key("jobs");
  json.StartArray();
  for (std::size_t number = 0; number < run.arrivals.size(); ++number) put_job(json, run, number);
  json.EndArray();
  json.Key("links");
  json.StartArray();
  for (simulator::LinkId id = 0; id < run.cluster->link_count(); ++id) {
    if (run.scenario->choice.host_links || run.cluster->joins_switches(id)) put_link(json, run, id);
  }
  json.EndArray();
  json.EndObject();
  return {text.GetString(), text.GetSize()};
}

}  // namespace fathom::scenario

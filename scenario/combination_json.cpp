// SPDX-License-Identifier: BSD-3-Clause
// Writes a run for results.json.
#include <algorithm>
#include <limits>
#include <vector>

#include "scenario/combination.h"
#include "simulator/run/json_fields.h"

namespace fathom::scenario {
namespace {

using base::JsonWriter;
using simulator::put_number;

// NaN, which put_number() writes as null.
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

void put_summary(base::JsonWriter& json, const char* key, const Summary& summary) {
  json.object(key, [&] {
    put_number(json, "mean", summary.count > 0 ? summary.mean : kUnknown);
    put_number(json, "max", summary.count > 0 ? summary.max : kUnknown);
  });
}

void put_over_time(base::JsonWriter& json, const char* key, const simulator::TimeWeighted& value) {
  json.object(key, [&] {
    put_number(json, "mean", value.mean());
    put_number(json, "deviation", value.deviation());
    put_number(json, "min", value.min());
    put_number(json, "max", value.max());
  });
}

void put_choice(base::JsonWriter& json, const CombinationRun& run) {
  const Scenario& scenario = *run.scenario;
  // Entries are joined by "+", because a combination has one name in tables, however many jobs it mixes.
  std::string names;
  for (const JobEntry& entry : scenario.jobs)
    names += (names.empty() ? "" : "+") + entry_name(entry);
  json.field("cluster", run.cluster->name());
  json.field("job", names);
  json.field("scheduler", scenario.choice.scheduler->name);
  json.field("selection", scenario.choice.selector->name);
  json.field("placement", scenario.placement.name());
  json.field("routing", scenario.choice.router->name);
  json.field("model", scenario.choice.model == simulator::RunModel::kFlow ? "flow" : "load");
  json.field("seed", scenario.choice.seed);
  json.field("host_links", scenario.choice.host_links);
  json.object("varied", [&] {
    for (const auto& [key, value] : scenario.varied) json.field(key, value);
  });
}

void put_statistics(base::JsonWriter& json, const CombinationRun& run) {
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
  std::vector<double> peaks(run.cluster->link_count());
  for (simulator::LinkId id = 0; id < run.cluster->link_count(); ++id)
    peaks[id] = outcome.links.peak_bytes(id);
  simulator::put_spread(json, *run.cluster, peaks, run.scenario->choice.host_links);
  put_number(json, "end_s", outcome.end_s);
  json.field("jobs_arrived", run.arrivals.size());
  json.field("jobs_started", jobs.started);
  json.field("jobs_ended", jobs.ended);
  put_summary(json, "wait_s", jobs.wait_s);
  put_summary(json, "response_s", jobs.response_s);
  put_summary(json, "slow_down", jobs.slow_down);
  put_summary(json, "bounded_slow_down", jobs.bounded_slow_down);
  if (jobs.contention.count > 0) put_summary(json, "contention", jobs.contention);
  json.object("over_time", [&] {
    put_over_time(json, "max_congestion", outcome.max_congestion);
    put_over_time(json, "mean_congestion", outcome.mean_congestion);
    put_over_time(json, "congestion_deviation", outcome.congestion_deviation);
    put_over_time(json, "max_flows", outcome.max_flows);
    put_over_time(json, "waiting", outcome.waiting);
    put_over_time(json, "running", outcome.running);
    put_over_time(json, "busy_slots", outcome.busy_slots);
  });
}

void put_job(base::JsonWriter& json, const CombinationRun& run, std::size_t number) {
  const simulator::JobOutcome& job = run.outcome.jobs[number];
  const simulator::Arrival& arrival = run.arrivals[number].arrival;
  const bool started = job.start_s != simulator::kNotYet, ended = job.end_s != simulator::kNotYet;
  const JobEntry& entry = run.scenario->jobs[run.arrivals[number].entry];
  json.field("job", entry_name(entry));
  json.field("placement", entry.placement.name());
  json.field("ranks", arrival.job->ranks);
  put_number(json, "hosts", started ? job.hosts : kUnknown);
  put_number(json, "submit_s", arrival.submit_s);
  put_number(json, "start_s", started ? job.start_s : kUnknown);
  put_number(json, "end_s", ended ? job.end_s : kUnknown);
  put_number(json, "wait_s", started ? job.wait_s(arrival) : kUnknown);
  put_number(json, "response_s", ended ? job.response_s(arrival) : kUnknown);
  put_number(json, "slow_down", ended ? job.slow_down(arrival) : kUnknown);
  put_number(json, "bounded_slow_down", ended ? job.bounded_slow_down(arrival) : kUnknown);
  if (job.alone_s > 0) put_number(json, "contention", ended ? job.run_s() / job.alone_s : kUnknown);
}

}  // namespace

std::string run_json(const CombinationRun& run) {
  return base::json_text(0, [&](base::JsonWriter& json) {
    put_choice(json, run);
    put_statistics(json, run);
    json.key("jobs");
    json.open_list();
    for (std::size_t number = 0; number < run.arrivals.size(); ++number) {
      json.object([&] { put_job(json, run, number); });
    }
    json.close_list();
    simulator::put_links(json, *run.cluster, run.scenario->choice.host_links,
                         [&](simulator::LinkId id) {
                           put_number(json, "traffic", run.outcome.links.peak_bytes(id));
                           put_number(json, "flows", run.outcome.links.peak_flows(id));
                           put_number(json, "mean_traffic", run.outcome.links.mean_bytes(id));
                         });
  });
}

}  // namespace fathom::scenario

// SPDX-License-Identifier: BSD-3-Clause
// Writes a run as CSV.
#include <algorithm>
#include <cstdio>

#include "base/csv_table.h"
#include "scenario/combination.h"
#include "scenario/utilisation.h"

namespace fathom::scenario {
namespace {

base::Status write_jobs(const CombinationRun& run, const std::string& path) {
  base::CsvTable table(
      path,
      "job,ranks,hosts,submit_s,start_s,end_s,wait_s,response_s,slow_down,bounded_slow_down,"
      "contention\n");
  for (std::size_t number = 0; number < run.arrivals.size(); ++number) {
    const simulator::JobOutcome& job = run.outcome.jobs[number];
    const simulator::Arrival& arrival = run.arrivals[number].arrival;
    const bool started = job.start_s != simulator::kNotYet, ended = job.end_s != simulator::kNotYet;
    table.text(entry_name(run.scenario->jobs[run.arrivals[number].entry]))
        .number(static_cast<double>(arrival.job->ranks))
        .number(job.hosts, started)
        .number(arrival.submit_s)
        .number(job.start_s, started)
        .number(job.end_s, ended)
        .number(job.wait_s(arrival), started)
        .number(job.response_s(arrival), ended)
        .number(job.slow_down(arrival), ended)
        .number(job.bounded_slow_down(arrival), ended)
        .number(job.alone_s > 0 ? job.run_s() / job.alone_s : 1, ended && job.alone_s > 0);
    table.end();
  }
  return table.commit();
}

base::Status write_timeline(const CombinationRun& run, const std::string& path) {
  base::CsvTable table(
      path,
      "time_s,max_traffic,max_congestion,mean_congestion,congestion_deviation,max_flows,waiting,"
      "running,busy_slots\n");
  for (const simulator::SystemState& state : run.outcome.timeline) {
    for (const double value : {state.time_s, state.max_traffic, state.max_congestion,
                               state.mean_congestion, state.congestion_deviation, state.max_flows,
                               double(state.waiting), double(state.running), state.busy_slots}) {
      table.number(value);
    }
    table.end();
  }
  return table.commit();
}

base::Status write_links(const CombinationRun& run, const std::string& path) {
  base::CsvTable table(path, "source,target,capacity,peak_traffic,mean_traffic,peak_flows\n");
  for (simulator::LinkId id = 0; id < run.cluster->link_count(); ++id) {
    const simulator::Link& link = run.cluster->link(id);
    table.text(run.cluster->node_name(link.source))
        .text(run.cluster->node_name(link.target))
        .number(link.capacity_Bps)
        .number(run.outcome.links.peak_bytes(id))
        .number(run.outcome.links.mean_bytes(id))
        .number(run.outcome.links.peak_flows(id));
    table.end();
  }
  return table.commit();
}

// Replaces double quotes, because one would end the CSV field.
std::string quotable(std::string text) {
  std::replace(text.begin(), text.end(), '"', '\'');
  return text;
}

}  // namespace

base::Status write_tables(const CombinationRun& run, const std::string& folder) {
  if (auto done = write_jobs(run, folder + "/jobs.csv"); !done) return done;
  if (auto done = write_timeline(run, folder + "/timeline.csv"); !done) return done;
  if (auto done = write_links(run, folder + "/links.csv"); !done) return done;
  if (!run.outcome.usage) return base::Done{};
  return write_utilisation(*run.cluster, *run.outcome.usage, folder + "/utilisation.csv");
}

std::string run_row_heading() {
  return "run,cluster,scheduler,selection,placement,routing,model,seed,varied,end_s,jobs_arrived,"
         "jobs_started,"
         "jobs_ended,mean_wait_s,mean_response_s,mean_slow_down,mean_bounded_slow_down,mean_max_"
         "congestion,"
         "max_congestion,mean_congestion,max_flows\n";
}

std::string run_row(const CombinationRun& run) {
  const simulator::SystemChoice& choice = run.scenario->choice;
  const JobSummaries jobs = summarize(run);
  std::string varied;
  for (const auto& [key, value] : run.scenario->varied) {
    varied += (varied.empty() ? "" : "; ") + key + '=' + value;
  }
  std::string row = '"' + quotable(run.cluster->name()) + "\"," + choice.scheduler->name + ',' +
                    choice.selector->name + ",\"" + quotable(run.scenario->placement.name()) +
                    "\"," + choice.router->name + ',' +
                    (choice.model == simulator::RunModel::kFlow ? "flow" : "load") + ',' +
                    std::to_string(choice.seed) + ",\"" + quotable(varied) + '"';
  for (const double value :
       {run.outcome.end_s, double(run.arrivals.size()), double(jobs.started), double(jobs.ended),
        jobs.wait_s.mean, jobs.response_s.mean, jobs.slow_down.mean, jobs.bounded_slow_down.mean,
        run.outcome.max_congestion.mean(), run.outcome.max_congestion.max(),
        run.outcome.mean_congestion.mean(), run.outcome.max_flows.max()}) {
    char digits[40];
    std::snprintf(digits, sizeof digits, ",%.15g", value);
    row += digits;
  }
  return row + '\n';
}

}  // namespace fathom::scenario

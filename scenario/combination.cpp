// SPDX-License-Identifier: BSD-3-Clause
#include "scenario/combination.h"

#include <algorithm>
#include <cstdio>

#include "simulator/formats/graphml.h"

namespace fathom::scenario {

base::Result<CombinationRun> run_combination(const Scenario& scenario, const Workload& workload,
                                             const std::string& folder,
                                             const JobProgress& progress) {
  auto arrivals = workload.arrivals(scenario);
  if (!arrivals) return arrivals.error();
  const simulator::Network& cluster = workload.cluster(scenario);
  simulator::SystemChoice choice = scenario.choice;
  choice.snapshot = [&](double time_s, const simulator::LinkUse& use) {
    char name[64];
    std::snprintf(name, sizeof name, "/links-at-%.10g.graphml", time_s);
    return simulator::write_graphml(cluster, folder + name, &use);
  };
  if (progress) choice.progress = [&](std::size_t arrived) { progress(arrived, arrivals->size()); };
  std::vector<simulator::Arrival> plain;
  plain.reserve(arrivals->size());
  for (const NamedArrival& named : *arrivals) plain.push_back(named.arrival);
  auto outcome = simulator::run_scheduled(cluster, plain, choice);
  if (!outcome) return outcome.error();
  return CombinationRun{&scenario, &cluster, std::move(*arrivals), std::move(*outcome)};
}

void Summary::add(double value) {
  mean += (value - mean) / static_cast<double>(++count);
  max = count == 1 ? value : std::max(max, value);
}

JobSummaries summarize(const CombinationRun& run) {
  JobSummaries all;
  for (std::size_t number = 0; number < run.arrivals.size(); ++number) {
    const simulator::JobOutcome& job = run.outcome.jobs[number];
    const simulator::Arrival& arrival = run.arrivals[number].arrival;
    if (job.start_s == simulator::kNotYet) continue;
    ++all.started;
    all.wait_s.add(job.wait_s(arrival));
    if (job.end_s == simulator::kNotYet) continue;
    ++all.ended;
    all.response_s.add(job.response_s(arrival));
    all.slow_down.add(job.slow_down(arrival));
    all.bounded_slow_down.add(job.bounded_slow_down(arrival));
    if (job.alone_s > 0) all.contention.add(job.run_s() / job.alone_s);
  }
  return all;
}

}  // namespace fathom::scenario

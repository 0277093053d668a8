// SPDX-License-Identifier: BSD-3-Clause
// Measures the engine on the combinations of a scenario: scenario_speed SCENARIO.yml [REPEATS]
//
// Excludes reading files and writing results. Prints one JSON object: the processor time of a run,
// the median of the repeats, and the total number of jobs that arrived.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "scenario/combination.h"
#include "scenario/scenario_reader.h"

namespace {

using namespace fathom::scenario;

double processor_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

template <typename T>
T value_of(fathom::base::Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "scenario_speed: %s\n", result.error().message.c_str());
  std::exit(1);
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return std::fprintf(stderr, "usage: scenario_speed SCENARIO.yml [REPEATS]\n"), 2;
  const int repeats = count > 2 ? std::max(1, std::atoi(words[2])) : 15;
  ScenarioFile file = value_of(read_scenarios(words[1]));
  Workload workload;
  for (Scenario& scenario : file.combinations) value_of(workload.load(scenario));
  std::vector<double> times;
  std::size_t jobs = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    jobs = 0;
    const double begin_s = processor_s();
    for (Scenario scenario : file.combinations) {
      scenario.choice.snapshots_s.clear();
      jobs += value_of(run_combination(scenario, workload, "")).arrivals.size();
    }
    times.push_back(processor_s() - begin_s);
  }
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  const double each_s =
      times[static_cast<std::size_t>(repeats / 2)] / static_cast<double>(file.combinations.size());
  std::printf("{\"combinations\": %zu, \"jobs\": %zu, \"seconds_a_run\": %.9f}\n",
              file.combinations.size(), jobs, each_s);
  return 0;
}

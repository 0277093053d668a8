// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pages/simulation_page.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "cli/pages/hot_links.h"
#include "cli/terminal/units.h"
#include "simulator/routing/bisection.h"

namespace fathom::cli {
namespace {

using scenario::CombinationRun;
using scenario::Summary;
using simulator::LinkId;

constexpr std::size_t kClusterWidth = 16;  // of its column
constexpr std::size_t kWorstJobs = 8;

std::string heading(const CombinationRun& run) {
  const simulator::SystemChoice& choice = run.scenario->choice;
  std::string text =
      fmt::format("{} · {} · {} · {} · {} · model {} · seed {} · {} simulated\n",
                  printable(run.cluster->name()), choice.scheduler->name, choice.selector->name,
                  printable(run.scenario->placement.name()), choice.router->name,
                  choice.model == simulator::RunModel::kFlow ? "flow" : "load", choice.seed,
                  human_seconds(run.outcome.end_s));
  for (const auto& [key, value] : run.scenario->varied)
    text += fmt::format("  {} = {}\n", key, printable(value));
  return text;
}

std::string summary_line(const char* name, const Summary& summary) {
  if (summary.count == 0) return fmt::format("  {:<26} {:>12}\n", name, "none yet");
  return fmt::format("  {:<26} {:>12.5g} {:>12.5g}\n", name, summary.mean, summary.max);
}

std::string jobs_part(const CombinationRun& run) {
  const scenario::JobSummaries jobs = scenario::summarize(run);
  const double slots = static_cast<double>(run.cluster->total_slots());
  std::string text =
      fmt::format("jobs    {} arrived, {} started, {} ended; {} of the slots in use on average\n",
                  grouped(run.arrivals.size()), grouped(jobs.started), grouped(jobs.ended),
                  percent(run.outcome.busy_slots.mean(), slots));
  text += fmt::format("  {:<26} {:>12} {:>12}\n", "", "mean", "max");
  text += summary_line("wait, s", jobs.wait_s);
  text += summary_line("response, s", jobs.response_s);
  text += summary_line("slow-down", jobs.slow_down);
  text += summary_line("bounded slow-down", jobs.bounded_slow_down);
  if (jobs.contention.count > 0) text += summary_line("run time / alone", jobs.contention);
  return text;
}

std::string congestion_part(const CombinationRun& run) {
  const auto line = [](const char* name, const simulator::TimeWeighted& value) {
    return fmt::format("  {:<26} {:>12.5g} {:>12.5g}\n", name, value.mean(), value.max());
  };
  std::string text = fmt::format(
      "links   congestion, bytes by unit of capacity{}\n  {:<26} {:>12} {:>12}\n",
      run.scenario->choice.host_links ? "" : "; between switches", "", "over time", "highest");
  text += line("max", run.outcome.max_congestion);
  text += line("mean", run.outcome.mean_congestion);
  text += line("σ", run.outcome.congestion_deviation);
  if (run.outcome.max_congestion.max() == 0 && !run.scenario->choice.host_links) {
    text +=
        "  no message crosses a link between switches; set host_links: true to "
        "count the links of hosts too\n";
  }
  const simulator::Bisection bisection = simulator::bisection_of(*run.cluster);
  double bytes = 0;
  for (const LinkId link : bisection.links) bytes += run.outcome.links.mean_bytes(link);
  if (bisection.capacity_Bps > 0) {
    text +=
        fmt::format("  {:<26} {:>12.5g}   {} links, capacity {:.5g}\n", "bisection",
                    bytes / bisection.capacity_Bps, bisection.links.size(), bisection.capacity_Bps);
  }
  return text;
}

std::string hot_links(const CombinationRun& run) {
  const auto mean_bytes = [&](LinkId link) { return run.outcome.links.mean_bytes(link); };
  std::string text = fmt::format("hot links {:>42} {:>12}\n", "mean bytes", "highest");
  for (const LinkId link :
       busiest_links(*run.cluster, mean_bytes, run.scenario->choice.host_links, kHotLinks)) {
    text +=
        fmt::format("  {} {:>12} {:>12}\n", link_column(*run.cluster, link),
                    human_bytes(mean_bytes(link)), human_bytes(run.outcome.links.peak_bytes(link)));
  }
  return text;
}

// Jobs that ended, longest wait first.
std::string worst_jobs(const CombinationRun& run) {
  std::vector<std::size_t> ended;
  for (std::size_t number = 0; number < run.arrivals.size(); ++number) {
    if (run.outcome.jobs[number].end_s != simulator::kNotYet) ended.push_back(number);
  }
  const auto wait_s = [&](std::size_t number) {
    return run.outcome.jobs[number].wait_s(run.arrivals[number].arrival);
  };
  std::stable_sort(ended.begin(), ended.end(),
                   [&](std::size_t one, std::size_t other) { return wait_s(one) > wait_s(other); });
  std::string text =
      fmt::format("{:<28} {:>7} {:>11} {:>11} {:>11} {:>11} {:>9}\n", "longest waits", "ranks",
                  "submit, s", "wait, s", "response, s", "slow-down", "bounded");
  for (std::size_t at = 0; at < std::min(kWorstJobs, ended.size()); ++at) {
    const scenario::NamedArrival& named = run.arrivals[ended[at]];
    const simulator::JobOutcome& job = run.outcome.jobs[ended[at]];
    text += fmt::format("  {} {:>7} {:>11.5g} {:>11.5g} {:>11.5g} {:>11.5g} {:>9.4g}\n",
                        left(printable(scenario::entry_name(run.scenario->jobs[named.entry])), 26),
                        named.arrival.job->ranks, named.arrival.submit_s, job.wait_s(named.arrival),
                        job.response_s(named.arrival), job.slow_down(named.arrival),
                        job.bounded_slow_down(named.arrival));
  }
  return text;
}

// Values chosen from lists in the scenario that no column shows in full.
std::string also_varied(const CombinationRun& run) {
  std::string text;
  for (const auto& [key, value] : run.scenario->varied) {
    const std::string last = key.substr(key.rfind('.') + 1);
    const bool has_column = last == "scheduler" || last == "selection" || last == "placement" ||
                            last == "routing" || last == "seed" || last == "host_selector" ||
                            last == "process_mapper" || last == "router" ||
                            ((last == "cluster" || last == "topology") &&
                             columns(run.cluster->name()) <= kClusterWidth);
    if (!has_column) text += "  " + key + '=' + value;
  }
  return printable(text);
}

}  // namespace

std::string simulation_report(const CombinationRun& run) {
  return heading(run) + '\n' + jobs_part(run) + '\n' + congestion_part(run) + '\n' +
         hot_links(run) + '\n' + worst_jobs(run);
}

std::string simulation_line(std::size_t number, const CombinationRun& run) {
  const simulator::SystemChoice& choice = run.scenario->choice;
  const scenario::JobSummaries jobs = scenario::summarize(run);
  return fmt::format(
      "{:>4} {} {:<12} {:<10} {} {:<10} {:>5} {:>6} {:>10.4g} {:>9.4g} {:>11.5g} {:>11.5g}{}\n",
      number, left(printable(run.cluster->name()), kClusterWidth), choice.scheduler->name,
      choice.selector->name, left(printable(run.scenario->placement.name()), kPlacementWidth),
      choice.router->name, choice.seed, jobs.ended, jobs.wait_s.mean, jobs.bounded_slow_down.mean,
      run.outcome.max_congestion.mean(), run.outcome.max_congestion.max(), also_varied(run));
}

std::string simulation_line_heading() {
  return fmt::format("{:>4} {} {:<12} {:<10} {} {:<10} {:>5} {:>6} {:>10} {:>9} {:>11} {:>11}\n",
                     "run", left("cluster", kClusterWidth), "scheduler", "selection",
                     left("placement", kPlacementWidth), "routing", "seed", "ended", "wait, s",
                     "b. slowd.", "max cong.", "highest");
}

}  // namespace fathom::cli

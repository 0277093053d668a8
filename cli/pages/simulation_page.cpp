// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pages/simulation_page.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/order/sort_stably.h"
#include "base/text.h"
#include "base/text_lines.h"
#include "cli/pages/hot_links.h"
#include "cli/terminal/units.h"
#include "simulator/routing/bisection.h"

namespace fathom::cli {
namespace {

using scenario::CombinationRun;
using scenario::Summary;
using simulator::LinkId;

constexpr std::size_t kFirstName = 1, kLastName = 6;  // columns of choices: cluster to seed
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

std::string time_line(const char* name, const Summary& summary) {
  if (summary.count == 0) return summary_line(name, summary);
  return fmt::format("  {:<26} {:>12} {:>12}\n", name, human_time(summary.mean),
                     human_time(summary.max));
}

std::string jobs_part(const CombinationRun& run) {
  const scenario::JobSummaries jobs = scenario::summarize(run);
  const double slots = static_cast<double>(run.cluster->total_slots());
  std::string text =
      fmt::format("jobs    {} arrived, {} started, {} ended; {} of the slots in use on average\n",
                  grouped(run.arrivals.size()), grouped(jobs.started), grouped(jobs.ended),
                  percent(run.outcome.busy_slots.mean(), slots));
  text += fmt::format("  {:<26} {:>12} {:>12}\n", "", "mean", "max");
  text += time_line("wait", jobs.wait_s);
  text += time_line("response", jobs.response_s);
  text += summary_line("slow-down", jobs.slow_down);
  text += summary_line("bounded slow-down", jobs.bounded_slow_down);
  if (jobs.contention.count > 0) text += summary_line("run time / alone", jobs.contention);
  return text;
}

std::string congestion_part(const CombinationRun& run) {
  const bool relative = simulator::has_relative_capacities(*run.cluster);
  const auto line = [relative](const char* name, const simulator::TimeWeighted& value) {
    return fmt::format("  {:<26} {:>12} {:>12}\n", name, congestion_text(relative, value.mean()),
                       congestion_text(relative, value.max()));
  };
  std::string text = fmt::format(
      "links   congestion, bytes over capacity{}\n  {:<26} {:>12} {:>12}\n",
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
    text += fmt::format("  {:<26} {:>12}   {} links, {}\n", "bisection",
                        congestion_text(relative, bytes / bisection.capacity_Bps),
                        bisection.links.size(),
                        relative ? fmt::format("capacity {:.5g}", bisection.capacity_Bps)
                                 : human_rate(bisection.capacity_Bps));
  }
  return text;
}

std::string hot_links(const CombinationRun& run) {
  const auto mean_bytes = [&](LinkId link) { return run.outcome.links.mean_bytes(link); };
  const bool relative = simulator::has_relative_capacities(*run.cluster);
  const std::vector<LinkId> links =
      busiest_links(*run.cluster, mean_bytes, run.scenario->choice.host_links, kHotLinks);
  std::size_t width = 26;
  for (const LinkId link : links) width = std::max(width, columns(link_name(*run.cluster, link)));
  std::string text = fmt::format("{} {:>12} {:>12} {:>12}\n", left("hot links", width + 2),
                                 "mean bytes", "highest", "congestion");
  for (const LinkId link : links) {
    const double peak = run.outcome.links.peak_bytes(link);
    text += fmt::format("  {} {:>12} {:>12} {:>12}\n", left(link_name(*run.cluster, link), width),
                        human_bytes(mean_bytes(link)), human_bytes(peak),
                        congestion_text(relative, peak / run.cluster->link(link).capacity_Bps));
  }
  std::vector<double> peaks(run.cluster->link_count());
  for (LinkId link = 0; link < run.cluster->link_count(); ++link)
    peaks[link] = run.outcome.links.peak_bytes(link);
  const bool host_links = run.scenario->choice.host_links;
  const std::string bottleneck =
      host_bottleneck(*run.cluster, simulator::load_spread(*run.cluster, peaks, host_links));
  return host_links || bottleneck.empty() ? text : text + bottleneck + '\n';
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
  base::sort_stably(
      ended, [&](std::size_t one, std::size_t other) { return wait_s(one) > wait_s(other); });
  ended.resize(std::min(kWorstJobs, ended.size()));
  const auto name_of = [&](std::size_t number) {
    return printable(scenario::entry_name(run.scenario->jobs[run.arrivals[number].entry]));
  };
  std::size_t width = 26;
  for (const std::size_t number : ended) width = std::max(width, columns(name_of(number)));
  std::string text =
      fmt::format("{} {:>7} {:>12} {:>12} {:>12} {:>9} {:>8}\n", left("longest waits", width + 2),
                  "ranks", "submitted at", "wait", "response", "slow-down", "bounded");
  for (const std::size_t number : ended) {
    const simulator::Arrival& arrival = run.arrivals[number].arrival;
    const simulator::JobOutcome& job = run.outcome.jobs[number];
    text +=
        fmt::format("  {} {:>7} {:>12} {:>12} {:>12} {:>9.4g} {:>8.4g}\n",
                    left(name_of(number), width), arrival.job->ranks, human_time(arrival.submit_s),
                    human_time(job.wait_s(arrival)), human_time(job.response_s(arrival)),
                    job.slow_down(arrival), job.bounded_slow_down(arrival));
  }
  return text;
}

// Values chosen from lists in the scenario that no column shows.
std::string also_varied(const CombinationRun& run) {
  std::string text;
  for (const auto& [key, value] : run.scenario->varied) {
    const std::string last = key.substr(key.rfind('.') + 1);
    const bool has_column = last == "scheduler" || last == "selection" || last == "placement" ||
                            last == "routing" || last == "seed" || last == "host_selector" ||
                            last == "process_mapper" || last == "router" || last == "cluster" ||
                            last == "topology";
    if (!has_column) base::add_to_list(text, key + '=' + value, "  ");
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
  const bool relative = simulator::has_relative_capacities(*run.cluster);
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:.4g}\t{}\t{}\t{}", number,
                     printable(run.cluster->name()), choice.scheduler->name, choice.selector->name,
                     printable(run.scenario->placement.name()), choice.router->name, choice.seed,
                     jobs.ended, human_time(jobs.wait_s.mean), jobs.bounded_slow_down.mean,
                     congestion_text(relative, run.outcome.max_congestion.mean()),
                     congestion_text(relative, run.outcome.max_congestion.max()), also_varied(run));
}

std::string simulation_table(const std::vector<std::string>& lines, const std::vector<bool>& best) {
  std::vector<std::vector<std::string>> rows = {{"run", "cluster", "scheduler", "selection",
                                                 "placement", "routing", "seed", "ended", "wait",
                                                 "slow-down", "worst link", "highest", ""}};
  for (const std::string& line : lines) rows.push_back(base::split(line, '\t'));
  std::vector<std::size_t> widths(rows.front().size());
  std::vector<bool> is_shown(rows.front().size(), true);
  std::string same;
  for (std::size_t column = 0; column < widths.size(); ++column) {
    for (const auto& row : rows) widths[column] = std::max(widths[column], columns(row[column]));
    const bool is_name = column >= kFirstName && column <= kLastName;
    const bool differs = std::any_of(rows.begin() + 2, rows.end(), [&](const auto& row) {
      return row[column] != rows[1][column];
    });
    is_shown[column] = !is_name || differs;
    if (!is_shown[column]) base::add_to_list(same, rows[0][column] + ' ' + rows[1][column], " · ");
  }
  std::string text = same.empty() ? "" : same + "\n\n";
  for (std::size_t at = 0; at < rows.size(); ++at) {
    std::string line = at > 0 && best[at - 1] ? "*" : " ";
    for (std::size_t column = 0; column < widths.size(); ++column) {
      if (!is_shown[column]) continue;
      const bool is_name = column >= kFirstName && column < kLastName;  // the seed is a number
      line += (is_name ? left(rows[at][column], widths[column])
                       : right(rows[at][column], widths[column])) +
              "  ";
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

}  // namespace fathom::cli

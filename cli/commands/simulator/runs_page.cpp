// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/simulator/runs_page.h"

#include <spdlog/fmt/fmt.h>

#include <cstdint>
#include <cstdio>
#include <utility>

#include "cli/pages/hot_links.h"
#include "cli/pages/simulation_comparison.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/units.h"
#include "simulator/run/results.h"

namespace fathom::cli {
namespace {

const std::vector<std::string>& load_titles() {
  static const std::vector<std::string> titles = {"worst", "host link", "p95",
                                                  "mean",  "max/mean",  "flows"};
  return titles;
}

SimulatedRun summary_of(const simulator::Network& network, const simulator::Job& job,
                        const simulator::LoadRun& run, const simulator::LoadSpread& spread,
                        bool host_links) {
  SimulatedRun summary;
  summary.cluster = network.name();
  summary.job = job.name;
  summary.selection = run.selection;
  summary.placement = run.placement;
  summary.routing = run.routing;
  summary.model = "load";
  summary.max_congestion = spread.max_congestion;
  summary.mean_congestion = spread.mean_congestion;
  if (const simulator::LinkId worst = spread.worst(host_links).id; worst != simulator::kNoId) {
    const simulator::Link& link = network.link(worst);
    summary.worst_link = {network.node_name(link.source), network.node_name(link.target),
                          link.capacity_Bps, run.use.bytes[worst]};
  }
  return summary;
}

// What is simulated, above the table.
std::string inputs_text(const std::vector<simulator::Network>& networks,
                        const std::vector<ModelJob>& jobs) {
  std::string text;
  for (const simulator::Network& network : networks)
    text += "cluster  " + printable(network.name()) + ": " + network_text(network) + '\n';
  for (const ModelJob& job : jobs) {
    double bytes = 0;
    for (const auto& pair : job.job.pairs) bytes += static_cast<double>(pair.bytes);
    text += fmt::format("job      {}: {} ranks, {} between them\n", printable(job.job.name),
                        grouped(static_cast<std::uint64_t>(job.job.ranks)), human_bytes(bytes));
  }
  return text + '\n';
}

RunTable table_of(const std::vector<simulator::Network>& networks,
                  const std::vector<ModelJob>& jobs, std::vector<std::string> placements,
                  Model model) {
  RunTable::Names names;
  for (const simulator::Network& network : networks) names.clusters.push_back(network.name());
  for (const ModelJob& job : jobs) names.jobs.push_back(job.job.name);
  names.placements = std::move(placements);
  return {std::move(names), model == Model::kLoad ? load_titles() : timed_titles(model),
          "bottleneck"};
}

}  // namespace

void RunsPage::print(const std::string& text) {
  std::fputs(Terminal::of_stdout().text(text).c_str(), stdout);
}

RunsPage::RunsPage(const std::vector<simulator::Network>& networks,
                   const std::vector<ModelJob>& jobs, std::vector<std::string> placements,
                   Model model, bool prints)
    : inputs_(inputs_text(networks, jobs)),
      table_(table_of(networks, jobs, std::move(placements), model)),
      prints_(prints) {}

void RunsPage::add(const simulator::Network& network, const simulator::Job& job,
                   const simulator::LoadRun& run, const simulator::LoadSpread& spread,
                   bool host_links) {
  runs_.push_back(summary_of(network, job, run, spread, host_links));
  if (!prints_) return;
  const bool relative = simulator::has_relative_capacities(network);
  const simulator::LoadFigures figures = simulator::load_figures(network, run.use, host_links);
  const simulator::LinkId worst = spread.worst(true).id;
  std::string where = "none carries anything";
  if (worst != simulator::kNoId) {
    where = fmt::format("{}{}, {}", network.joins_switches(worst) ? "" : "a host's: ",
                        link_name(network, worst), human_bytes(run.use.bytes[worst]));
  }
  print_last({congestion_text(relative, spread.max_congestion),
              congestion_text(relative, spread.of_hosts.congestion),
              congestion_text(relative, spread.p95_congestion),
              congestion_text(relative, spread.mean_congestion),
              fmt::format("{:.3g}", spread.imbalance), fmt::format("{:.0f}", figures.max_flows)},
             where);
}

void RunsPage::add(const simulator::Network& network, const ModelJob& job,
                   const simulator::TimedRun& run, Model model) {
  runs_.push_back(timed_summary(network, job, run, model));
  if (!prints_) return;
  print_last(timed_figures(run), worst_link_in_use(network, run));
  print(phases_text(run));
}

void RunsPage::end() const {
  if (prints_) print('\n' + folded(best_lines(runs_), Terminal::of_stdout().width(), 6));
}

void RunsPage::print_last(const std::vector<std::string>& figures, const std::string& where) const {
  if (runs_.size() == 1) print(inputs_ + table_.heading());
  print(table_.line(runs_.back(), figures, where));
}

}  // namespace fathom::cli

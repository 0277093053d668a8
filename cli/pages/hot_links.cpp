// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pages/hot_links.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "cli/terminal/units.h"
#include "simulator/routing/bisection.h"

namespace fathom::cli {
namespace {

using simulator::LinkId;
using simulator::Network;

constexpr std::size_t kLinkWidth = 38;

double bisection_congestion(const simulator::Bisection& bisection, const simulator::LinkUse& use) {
  double bytes = 0;
  for (const LinkId link : bisection.links) bytes += use.bytes[link];
  return bytes / bisection.capacity_Bps;
}

}  // namespace

std::vector<LinkId> busiest_links(const Network& network, const BytesOfLink& bytes, bool host_links,
                                  std::size_t most) {
  const auto congestion = [&](LinkId link) {
    return bytes(link) / network.link(link).capacity_Bps;
  };
  std::vector<LinkId> links;
  for (LinkId link = 0; link < network.link_count(); ++link) {
    if (host_links || network.joins_switches(link)) links.push_back(link);
  }
  const std::size_t shown = std::min(most, links.size());
  // Ties by number, because partial_sort is not stable.
  std::partial_sort(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(shown), links.end(),
                    [&](LinkId one, LinkId other) {
                      return congestion(one) != congestion(other)
                                 ? congestion(one) > congestion(other)
                                 : one < other;
                    });
  links.resize(shown);
  return links;
}

std::string link_column(const Network& network, LinkId id) {
  const simulator::Link& link = network.link(id);
  return left(
      printable(network.node_name(link.source)) + " → " + printable(network.node_name(link.target)),
      kLinkWidth);
}

std::string load_report(const Network& network, const simulator::LinkUse& use, bool host_links) {
  const simulator::LoadFigures figures = simulator::load_figures(network, use, host_links);
  if (!(figures.max_traffic > 0)) return "";
  std::string text = fmt::format("\ncongestion{}: max {:.5g}, mean {:.5g}, σ {:.5g}",
                                 host_links ? "" : " between switches", figures.max_congestion,
                                 figures.mean_congestion, figures.congestion_deviation);
  const simulator::Bisection bisection = simulator::bisection_of(network);
  if (bisection.capacity_Bps > 0) {
    text += fmt::format("; bisection {:.5g} ({} links)", bisection_congestion(bisection, use),
                        bisection.links.size());
  }
  text += fmt::format("\n{} {:>12} {:>12} {:>8}\n", left("hot links", kLinkWidth + 2), "bytes",
                      "congestion", "flows");
  for (const LinkId link : busiest_links(
           network, [&](LinkId id) { return use.bytes[id]; }, host_links, kHotLinks)) {
    if (!(use.bytes[link] > 0)) break;
    text += fmt::format("  {} {:>12} {:>12.5g} {:>8.6g}\n", link_column(network, link),
                        human_bytes(use.bytes[link]),
                        use.bytes[link] / network.link(link).capacity_Bps, use.flows[link]);
  }
  return text;
}

std::string time_report(const Network& network, const simulator::LinkUsage& usage, double seconds) {
  std::string rows;
  for (const LinkId link : busiest_links(
           network, [&](LinkId id) { return usage.total_bytes(id); }, true, kHotLinks)) {
    const double bytes = usage.total_bytes(link);
    if (!(bytes > 0 && seconds > 0)) break;
    rows += fmt::format("  {} {:>12} {:>12}\n", link_column(network, link), human_bytes(bytes),
                        percent(bytes, seconds * network.link(link).capacity_Bps));
  }
  if (rows.empty()) return "";
  return fmt::format("\n{} {:>12} {:>12}\n", left("hot links", kLinkWidth + 2), "bytes", "in use") +
         rows;
}

}  // namespace fathom::cli

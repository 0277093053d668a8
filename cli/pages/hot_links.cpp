// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pages/hot_links.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cli/terminal/units.h"
#include "simulator/routing/bisection.h"

namespace fathom::cli {
namespace {

using simulator::LinkId;
using simulator::Network;

constexpr double kWhole = 10000;  // from here on without decimals

std::size_t width_of_names(const Network& network, const std::vector<LinkId>& links) {
  std::size_t width = 0;
  for (const LinkId link : links) width = std::max(width, columns(link_name(network, link)));
  return width;
}

// Links that carry as much as the last one shown, and are not shown themselves.
std::string and_equals(const Network& network, const BytesOfLink& bytes, bool host_links,
                       const std::vector<LinkId>& shown) {
  if (shown.empty()) return "";
  const auto congestion = [&](LinkId id) { return bytes(id) / network.link(id).capacity_Bps; };
  const double least = congestion(shown.back());
  std::size_t equal = 0;
  for (LinkId id = 0; id < network.link_count(); ++id)
    equal += (host_links || network.joins_switches(id)) && congestion(id) == least;
  for (const LinkId id : shown) equal -= congestion(id) == least;
  return equal == 0 ? "" : fmt::format("  and {} more like the last\n", grouped(equal));
}

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

std::string link_name(const Network& network, LinkId id) {
  const simulator::Link& link = network.link(id);
  return printable(network.node_name(link.source)) + " → " +
         printable(network.node_name(link.target));
}

std::string congestion_text(bool relative, double congestion) {
  if (!relative && congestion > 0) return human_time(congestion);
  if (congestion < kWhole || congestion > 1e15) return fmt::format("{:.4g}", congestion);
  return grouped(static_cast<std::uint64_t>(std::llround(congestion)));
}

std::string network_text(const Network& network) {
  std::string text =
      fmt::format("{} host{}, {} switch{}, {} links", grouped(network.host_count()),
                  network.host_count() == 1 ? "" : "s", grouped(network.switch_count()),
                  network.switch_count() == 1 ? "" : "es", grouped(network.link_count()));
  if (network.link_count() == 0) return text;
  const auto [least, most] = std::minmax_element(
      network.links().begin(), network.links().end(),
      [](const auto& one, const auto& other) { return one.capacity_Bps < other.capacity_Bps; });
  if (simulator::has_relative_capacities(network)) return text + " of relative capacities";
  if (least->capacity_Bps == most->capacity_Bps)
    return text + " of " + human_rate(least->capacity_Bps);
  return text + fmt::format(" of {} to {}", human_rate(least->capacity_Bps),
                            human_rate(most->capacity_Bps));
}

std::string host_bottleneck(const Network& network, const simulator::LoadSpread& spread) {
  const simulator::WorstLink &host = spread.of_hosts, &inner = spread.between_switches;
  if (!(host.congestion > inner.congestion)) return "";
  const std::string compared = inner.congestion > 0
                                   ? fmt::format(", {:.3g} times the worst between switches",
                                                 host.congestion / inner.congestion)
                                   : "; no link between switches carries anything";
  const bool relative = simulator::has_relative_capacities(network);
  return fmt::format("the bottleneck is a host's link: {}, {}{}", link_name(network, host.id),
                     congestion_text(relative, host.congestion), compared);
}

std::string load_report(const Network& network, const simulator::LinkUse& use, bool host_links) {
  const simulator::LoadFigures figures = simulator::load_figures(network, use, host_links);
  if (!(figures.max_traffic > 0)) return "";
  const simulator::LoadSpread spread = simulator::load_spread(network, use.bytes, host_links);
  const bool relative = simulator::has_relative_capacities(network);
  const auto shown = [&](double congestion) { return congestion_text(relative, congestion); };
  std::string text =
      fmt::format("\ncongestion of {} links{}: max {}, p95 {}, mean {}, σ {}\n",
                  grouped(spread.links), host_links ? "" : " between switches",
                  shown(figures.max_congestion), shown(spread.p95_congestion),
                  shown(figures.mean_congestion), shown(figures.congestion_deviation));
  text += fmt::format("imbalance {:.3g} (max over mean); {} links carry nothing", spread.imbalance,
                      spread.unused == 0 ? "no" : grouped(spread.unused));
  const simulator::Bisection bisection = simulator::bisection_of(network);
  if (bisection.capacity_Bps > 0) {
    text += fmt::format("; bisection {} ({} links)", shown(bisection_congestion(bisection, use)),
                        bisection.links.size());
  }
  text += '\n';
  if (const std::string bottleneck = host_bottleneck(network, spread);
      !host_links && !bottleneck.empty())
    text += bottleneck + "; --host-links counts these, too\n";
  const auto bytes = [&](LinkId id) { return use.bytes[id]; };
  std::vector<LinkId> links = busiest_links(network, bytes, host_links, kHotLinks);
  std::erase_if(links, [&](LinkId link) { return !(use.bytes[link] > 0); });
  const std::size_t width = width_of_names(network, links);
  text += fmt::format("\n{} {:>10} {:>11} {:>8}\n", left("hot links", width + 2), "bytes",
                      "congestion", "flows");
  for (const LinkId link : links) {
    text += fmt::format("  {} {:>10} {:>11} {:>8.6g}\n", left(link_name(network, link), width),
                        human_bytes(use.bytes[link]),
                        shown(use.bytes[link] / network.link(link).capacity_Bps), use.flows[link]);
  }
  return text + and_equals(network, bytes, host_links, links);
}

std::string time_report(const Network& network, const simulator::LinkUsage& usage, double seconds) {
  std::vector<LinkId> links = busiest_links(
      network, [&](LinkId id) { return usage.total_bytes(id); }, true, kHotLinks);
  std::erase_if(links, [&](LinkId id) { return !(usage.total_bytes(id) > 0 && seconds > 0); });
  if (links.empty()) return "";
  const bool relative = simulator::has_relative_capacities(network);
  const std::size_t width = width_of_names(network, links);
  std::string text = fmt::format("\n{} {:>10} {:>8}{}\n", left("hot links", width + 2), "bytes",
                                 "in use", relative ? "" : fmt::format("{:>12}", "mean rate"));
  for (const LinkId link : links) {
    const double bytes = usage.total_bytes(link);
    text +=
        fmt::format("  {} {:>10} {:>8}{}\n", left(link_name(network, link), width),
                    human_bytes(bytes), percent(bytes, seconds * network.link(link).capacity_Bps),
                    relative ? "" : fmt::format("{:>12}", human_rate(bytes / seconds)));
  }
  return text + and_equals(
                    network, [&](LinkId id) { return usage.total_bytes(id); }, true, links);
}

}  // namespace fathom::cli

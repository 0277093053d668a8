// SPDX-License-Identifier: BSD-3-Clause
// One case of flows, simulated by Fathom and by SimGrid: all must end within 1 % of each other,
// counted from the flow's own start.
//
//   simgrid_test NETWORK PATTERN SHARING     (see the tables below)
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "test/simulator/plain_networks.h"
#include "test/simulator/simgrid_flows.h"

namespace {

using namespace fathom::test;

constexpr double kAllowed = 0.01;
constexpr double kLatency = 5e-6;

PlainNetwork network_of(const std::string& name) {
  if (name == "fat-tree") return fat_tree(8, 8, 4, {1.25e9, 1e-6}, {1.25e9, 0.5e-6});
  if (name == "torus") return torus(4, 4, 3, {2e9, 0.3e-6}, {1e9, 0.1e-6});
  if (name == "dragonfly") return dragonfly(5, 4, 3, {1.25e9, 1e-6}, {2e9, 0.2e-6}, {3e9, 4e-6});
  return {};
}

std::vector<PlainFlow> flows_of(const std::string& name, std::uint32_t hosts, std::size_t count) {
  if (name == "all-to-all") return all_to_all(hosts, 1e6);
  if (name == "random") return random_flows(hosts, count, 2e7, 0.02, 42);
  return {};
}

// The network as Fathom sees it where SimGrid's links have no latency but the common one.
PlainNetwork with_common_latency(PlainNetwork network, double latency_s) {
  for (auto& link : network.links) link.latency_s = 0;
  const auto common = static_cast<std::uint32_t>(network.links.size());
  network.links.push_back({1e15, latency_s});
  for (Route& route : network.routes) {
    if (!route.empty()) route.push_back(common);
  }
  return network;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string words[3] = {argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "",
                                argc > 3 ? argv[3] : ""};
  const PlainNetwork network = network_of(words[0]);
  const Sharing sharing = words[2] == "equal" ? Sharing::kEqual : Sharing::kByInverseLatency;
  // With equal weights SimGrid solves all rates at every event: fewer flows.
  const std::vector<PlainFlow> flows =
      flows_of(words[1], network.hosts, sharing == Sharing::kEqual ? 400 : 1500);
  if (network.hosts == 0 || flows.empty() ||
      (words[2] != "equal" && words[2] != "inverse-latency")) {
    std::fprintf(
        stderr,
        "usage: simgrid_test fat-tree|torus|dragonfly all-to-all|random equal|inverse-latency\n");
    return 2;
  }
  const std::vector<double> theirs = ends_by_simgrid(network, flows, {sharing, kLatency});
  const std::vector<double> ours = ends_by_flow_model(
      sharing == Sharing::kEqual ? with_common_latency(network, kLatency) : network, flows,
      sharing);
  double worst = 0;
  for (std::size_t flow = 0; flow < flows.size(); ++flow) {
    const double taken = theirs[flow] - flows[flow].start_s;
    const double difference = std::abs(ours[flow] - theirs[flow]) / taken;
    if (!(difference <= kAllowed)) {
      std::printf(
          "flow %zu, host %u to %u, %.0f bytes from %g s: ends at %.9g s, in SimGrid at %.9g s\n",
          flow, flows[flow].from, flows[flow].to, flows[flow].size_bytes, flows[flow].start_s,
          ours[flow], theirs[flow]);
    }
    worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
  }
  std::printf("%s, %s, %s: %zu flows, largest difference %.2e\n", words[0].c_str(),
              words[1].c_str(), words[2].c_str(), flows.size(), worst);
  return worst <= kAllowed ? 0 : 1;
}

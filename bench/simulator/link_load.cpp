// SPDX-License-Identifier: BSD-3-Clause
// Measures how fast demands are routed and links loaded, on one core.
//
//   link_load_bench TOPOLOGY ROUTING [PAIRS]
//
// TOPOLOGY as for fathom simulate --cluster; all ordered pairs of hosts, or PAIRS random ones.
// Prints one JSON object; "seconds" is processor time for routing and adding up, without building
// the network.
#include "simulator/routing/link_load.h"

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/processor_time.h"
#include "simulator/formats/cluster.h"
#include "simulator/routing/registry.h"

namespace {

using namespace fathom::simulator;
using fathom::bench::processor_seconds;

std::vector<Demand> all_pairs(std::uint32_t hosts) {
  std::vector<Demand> demands;
  demands.reserve(std::size_t{hosts} * (hosts - 1));
  for (HostId source = 0; source < hosts; ++source) {
    for (HostId destination = 0; destination < hosts; ++destination) {
      if (source != destination) demands.push_back({source, destination, 1000, 1, 0});
    }
  }
  return demands;
}

std::vector<Demand> random_pairs(std::uint32_t hosts, std::size_t pairs) {
  fathom::base::Random random(1);
  std::vector<Demand> demands;
  demands.reserve(pairs);
  while (demands.size() < pairs) {
    const auto source = static_cast<HostId>(random.below(hosts));
    const auto destination = static_cast<HostId>(random.below(hosts));
    const auto bytes = static_cast<double>(random.below(1'000'000));
    if (source != destination) demands.push_back({source, destination, bytes, 1, 0});
  }
  return demands;
}

int give_up(const std::string& why) {
  std::fprintf(stderr, "link_load_bench: %s\n", why.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return give_up("usage: link_load_bench TOPOLOGY ROUTING [PAIRS]");
  const auto network = load_cluster(argv[1]);
  if (!network) return give_up(network.error().message);
  const auto row = find_router(argv[2]);
  if (!row) return give_up(row.error().message);
  const std::vector<Demand> demands =
      argc > 3 ? random_pairs(network->host_count(), std::strtoull(argv[3], nullptr, 10))
               : all_pairs(network->host_count());
  const LinkUse background(*network);
  const double ready = processor_seconds();
  auto router = (*row)->make(*network, {});
  if (!router) return give_up(router.error().message);
  const auto use = link_load(*network, **router, demands, background);
  const double done = processor_seconds();
  if (!use) return give_up(use.error().message);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "{\"hosts\": %u, \"links\": %u, \"pairs\": %zu, \"seconds\": %.6f, \"memory_bytes\": %.0f, "
      "\"max_traffic\": %.0f}\n",
      network->host_count(), network->link_count(), demands.size(), done - ready,
      static_cast<double>(usage.ru_maxrss) * 1024, load_figures(*network, *use, false).max_traffic);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "test/simulator/simgrid_flows.h"

#include <algorithm>
#include <ctime>
#include <numeric>
#include <simgrid/s4u.hpp>
#include <string>

namespace fathom::test {
namespace {

namespace s4u = simgrid::s4u;

// The pure fluid model: everything that SimGrid adds to it to look like TCP is switched off.
void configure(s4u::Engine& engine, Sharing sharing) {
  // Latency, then max-min sharing; the other models are CM02 with factors fitted to measurements.
  engine.set_config("network/model:CM02");
  // The largest TCP window: a rate is at most gamma / (2 * latency). 0: no such bound.
  engine.set_config("network/TCP-gamma:0");
  // What TCP headers take from the bandwidth, and slow start adds to the latency: nothing.
  engine.set_config("network/bandwidth-factor:1");
  engine.set_config("network/latency-factor:1");
  // What each link of a route adds to the flow's sharing penalty, in bytes over its bandwidth:
  // nothing.
  engine.set_config("network/weight-S:0");
  // Acknowledgements that load the way back: none.
  engine.set_config("network/crosstraffic:0");
  // By default SimGrid solves only the rates that an event may have changed. SimGrid 3.32 misses
  // some when the flows have a FATPIPE link in common: they keep rates with which no link is full.
  if (sharing == Sharing::kEqual) engine.set_config("network/optim:Full");
}

std::vector<s4u::Link*> make_links(s4u::NetZone* zone, const PlainNetwork& network,
                                   Sharing sharing) {
  std::vector<s4u::Link*> links;
  for (std::size_t index = 0; index < network.links.size(); ++index) {
    const simulator::LinkSpeed& speed = network.links[index];
    s4u::Link* link = zone->create_link("l" + std::to_string(index), speed.capacity_Bps);
    if (sharing == Sharing::kByInverseLatency) link->set_latency(speed.latency_s);
    links.push_back(link->seal());
  }
  return links;
}

void make_routes(s4u::NetZone* zone, const PlainNetwork& network,
                 const std::vector<s4u::Host*>& hosts, const std::vector<s4u::Link*>& links,
                 s4u::Link* shared_latency) {
  for (std::uint32_t from = 0; from < network.hosts; ++from) {
    for (std::uint32_t to = 0; to < network.hosts; ++to) {
      if (from == to) continue;
      std::vector<s4u::LinkInRoute> route;
      for (std::uint32_t link : network.route(from, to)) route.emplace_back(links[link]);
      if (shared_latency != nullptr) route.emplace_back(shared_latency);
      zone->add_route(hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr,
                      route, false);
    }
  }
}

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

std::vector<double> ends_by_simgrid(const PlainNetwork& network,
                                    const std::vector<PlainFlow>& flows, SimgridSharing sharing,
                                    double* seconds) {
  std::string name = "simgrid_flows", quiet = "--log=root.thresh:warning";
  char* words[] = {name.data(), quiet.data(), nullptr};
  int word_count = 2;
  s4u::Engine engine(&word_count, words);
  configure(engine, sharing.sharing);
  s4u::NetZone* zone = s4u::create_full_zone("world");
  std::vector<s4u::Host*> hosts;
  for (std::uint32_t host = 0; host < network.hosts; ++host) {
    hosts.push_back(zone->create_host("h" + std::to_string(host), 1e9)->seal());
  }
  const std::vector<s4u::Link*> links = make_links(zone, network, sharing.sharing);
  s4u::Link* shared_latency = nullptr;
  if (sharing.sharing == Sharing::kEqual) {
    // FATPIPE: every flow gets the whole bandwidth, whatever else uses the link.
    shared_latency = zone->create_link("latency", 1e15)
                         ->set_latency(sharing.latency_s)
                         ->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)
                         ->seal();
  }
  make_routes(zone, network, hosts, links, shared_latency);
  zone->seal();

  std::vector<std::size_t> order(flows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return flows[a].start_s < flows[b].start_s;
  });
  std::vector<double> ends_s(flows.size());
  s4u::Actor::create("starter", hosts.front(), [&] {
    std::vector<s4u::CommPtr> comms;
    for (std::size_t index : order) {
      const PlainFlow& flow = flows[index];
      s4u::this_actor::sleep_until(flow.start_s);
      comms.push_back(s4u::Comm::sendto_async(hosts[flow.from], hosts[flow.to],
                                              static_cast<std::uint64_t>(flow.size_bytes)));
    }
    for (std::size_t at = 0; at < order.size(); ++at) {
      comms[at]->wait();
      ends_s[order[at]] = comms[at]->get_finish_time();
    }
  });
  const double before = processor_seconds();
  engine.run();
  if (seconds != nullptr) *seconds = processor_seconds() - before;
  return ends_s;
}

}  // namespace fathom::test

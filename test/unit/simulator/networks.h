// SPDX-License-Identifier: BSD-3-Clause
// Small networks and jobs for tests.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simulator/formats/cluster.h"
#include "simulator/jobs/job.h"
#include "simulator/network/network.h"

namespace fathom::test {

// "torus:dims=4,4", as on the command line.
inline simulator::Network network_of(const std::string& specification) {
  auto network = simulator::load_cluster(specification);
  REQUIRE_MESSAGE(network, network.error().message);
  return std::move(*network);
}

// Edge switches with `hosts` hosts each, every edge switch linked to every core switch; all cables
// of capacity 1.
inline simulator::Network two_level_tree(std::uint32_t edges, std::uint32_t cores,
                                         std::uint32_t hosts, std::uint32_t slots = 1) {
  simulator::NetworkBuilder builder("tree");
  std::vector<std::uint32_t> core;
  for (std::uint32_t at = 0; at < cores; ++at) {
    core.push_back(builder.add_switch("core" + std::to_string(at + 1)));
  }
  for (std::uint32_t edge = 0; edge < edges; ++edge) {
    const auto leaf = builder.add_switch("edge" + std::to_string(edge + 1));
    for (std::uint32_t host = 0; host < hosts; ++host) {
      builder.add_cable(builder.add_host("n" + std::to_string(edge * hosts + host), slots), leaf, 1,
                        0);
    }
    for (const std::uint32_t top : core) builder.add_cable(leaf, top, 1, 0);
  }
  auto network = builder.build();
  REQUIRE_MESSAGE(network, network.error().message);
  return std::move(*network);
}

// Each pair: source, destination, bytes; one message.
inline simulator::Job job_of(std::int64_t ranks, std::vector<profile::PairCount> pairs) {
  for (profile::PairCount& pair : pairs) pair.messages = 1;
  return {"job", ranks, std::move(pairs)};
}

inline simulator::Job all_to_all(std::int64_t ranks, std::uint64_t bytes) {
  std::vector<profile::PairCount> pairs;
  for (std::int64_t source = 0; source < ranks; ++source) {
    for (std::int64_t destination = 0; destination < ranks; ++destination) {
      if (source != destination) pairs.push_back({source, destination, bytes, 1});
    }
  }
  return {"all-to-all", ranks, std::move(pairs)};
}

}  // namespace fathom::test

// SPDX-License-Identifier: BSD-3-Clause
// Choice of hosts, placement of processes, and the resulting traffic between hosts.
#include "simulator/placement/placement.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "simulator/jobs/patterns.h"
#include "simulator/placement/registry.h"
#include "simulator/routing/registry.h"
#include "simulator/run/one_job.h"
#include "test/unit/simulator/networks.h"

namespace fathom::simulator {
namespace {

using test::job_of;
using test::two_level_tree;

std::vector<HostId> select(const char* name, const Network& network, std::int64_t ranks,
                           std::vector<char> busy = {}, std::uint64_t seed = 1) {
  auto hosts = select_hosts(**find_selector(name), {network, ranks, busy, seed});
  REQUIRE_MESSAGE(hosts, hosts.error().message);
  return *hosts;
}

Placement place(const char* name, const Network& network, std::int64_t ranks,
                const std::vector<HostId>& hosts) {
  const Job job = job_of(ranks, {});
  auto placement = place_processes(**find_placement(name), {network, job, hosts, 1});
  REQUIRE_MESSAGE(placement, placement.error().message);
  return *placement;
}

TEST_CASE("linear selection takes the shortest run of free hosts that holds the job") {
  const Network network = two_level_tree(3, 1, 4, 2);  // 12 hosts of 2 slots
  CHECK(select("linear", network, 5) == std::vector<HostId>{0, 1, 2});
  const std::vector<char> busy = {0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1};  // runs of 4, 3 and 2
  CHECK(select("linear", network, 4, busy) == std::vector<HostId>{9, 10});
  CHECK(select("linear", network, 6, busy) == std::vector<HostId>{5, 6, 7});
  CHECK(select("linear", network, 10, busy) ==
        std::vector<HostId>{0, 1, 2, 3, 5});  // longest first
}

TEST_CASE("a pattern with more pairs than can be simulated is refused before it is made") {
  const auto error = [](const char* pattern, std::int64_t ranks) {
    const auto job = make_pattern(**find_pattern(pattern), ranks, 1, 1);
    REQUIRE_FALSE(job);
    return job.error().message;
  };
  CHECK(
      error("all-to-all", 65536) ==
      "pattern all-to-all of 65536 ranks has 4294901760 pairs; at most 67108864 can be simulated");
  CHECK(error("butterfly", 1 << 23).find("has 192937984 pairs") != std::string::npos);
  CHECK(error("ring", 1'000'000'000).find("1000000000 ranks is too large; at most 16777216") !=
        std::string::npos);
  // No other rank has more partners than rank 0, from which the number is taken.
  for (const PatternRow& row : patterns()) {
    for (const std::int64_t ranks : {2, 7, 16, 60}) {
      const Job job = *make_pattern(row, ranks, 1, 1);
      std::map<std::int64_t, std::int64_t> partners;
      for (const profile::PairCount& pair : job.pairs) ++partners[pair.source];
      for (const auto& [rank, count] : partners)
        CHECK(count <= std::max<std::int64_t>(partners[0], 1));
    }
  }
}

TEST_CASE("random selection never draws a host twice (the reference: with replacement)") {
  const Network network = two_level_tree(5, 1, 4, 8);
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const std::vector<HostId> hosts = select("random", network, 128, {}, seed);
    CHECK(hosts.size() == 16);
    CHECK(std::set<HostId>(hosts.begin(), hosts.end()).size() == 16);
  }
  CHECK(select("random", network, 128, {}, 5) == select("random", network, 128, {}, 5));
  CHECK(select("random", network, 128, {}, 5) != select("random", network, 128, {}, 6));
  CHECK(select("random", network, 160).size() == 20);
}

TEST_CASE("block fills hosts, cyclic alternates, and random permutes block") {
  const Network network = two_level_tree(1, 1, 3, 2);
  CHECK(place("block", network, 5, {2, 0, 1}) == Placement{2, 2, 0, 0, 1});
  CHECK(place("cyclic", network, 5, {2, 0, 1}) == Placement{2, 0, 1, 2, 0});
  const Placement random = place("random", network, 6, {0, 1, 2});
  CHECK(random[0] == random[1]);
  CHECK(std::multiset<HostId>(random.begin(), random.end()) ==
        std::multiset<HostId>{0, 0, 1, 1, 2, 2});
}

TEST_CASE("cyclic skips hosts that are full") {
  NetworkBuilder builder("uneven");
  const auto top = builder.add_switch("s");
  builder.add_cable(builder.add_host("a", 1), top, 1, 0);
  builder.add_cable(builder.add_host("b", 3), top, 1, 0);
  const auto network = builder.build();
  REQUIRE(network);
  CHECK(place("cyclic", *network, 4, {0, 1}) == Placement{0, 1, 1, 1});
}

TEST_CASE("a job with too many processes is refused with the number of slots") {
  const Network network = two_level_tree(2, 1, 2, 2);
  const auto hosts = select_hosts(**find_selector("linear"), {network, 9, {}, 1});
  REQUIRE_FALSE(hosts);
  CHECK(hosts.error().message.find("'tree' have 8 slots and the job has 9 processes") !=
        std::string::npos);
  const std::vector<char> busy = {1, 0, 0, 0};
  CHECK_FALSE(select_hosts(**find_selector("random"), {network, 7, busy, 1}));
  const Job job = job_of(3, {});
  const std::vector<HostId> one = {0};
  const auto placed = place_processes(**find_placement("block"), {network, job, one, 1});
  REQUIRE_FALSE(placed);
  CHECK(placed.error().message.find("chosen hosts have 2 slots") != std::string::npos);
}

TEST_CASE("an unknown name is answered with the known ones") {
  CHECK(find_selector("best").error().message ==
        "there is no selection 'best'; there are linear, random, switches, contiguous, fragmented");
  CHECK(find_placement("x").error().message.find("there are block, cyclic") != std::string::npos);
  CHECK(find_router("x").error().message.find("there are dmodk, smodk") != std::string::npos);
}

TEST_CASE("demands add up by hosts in the order of the first pair, ranks as text") {
  const Job job =
      job_of(12, {{0, 1, 5, 0}, {1, 0, 7, 0}, {2, 11, 1, 0}, {10, 11, 3, 0}, {11, 2, 0, 0}});
  const Placement placement = {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  const std::vector<Demand> demands = demands_of(job, placement, Granularity::kHosts);
  REQUIRE(demands.size() == 2);  // the order of sources is 0, 1, 10, 11, 2
  CHECK(demands[0].source == 0);
  CHECK(demands[0].bytes == 9);
  CHECK(demands[0].flows == 3);
  CHECK(demands[1].source == 1);
  CHECK(demands[1].bytes == 7);
  CHECK(demands[1].flows == 2);  // the one without bytes counts
  const std::vector<Demand> single = demands_of(job, placement, Granularity::kProcesses);
  REQUIRE(single.size() == 5);
  CHECK(single[2].bytes == 3);  // rank 10 before rank 2
  CHECK(single[4].bytes == 1);
}

}  // namespace
}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
// The search for placements: known optima, and the parts that it consists of.
#include "simulator/placement/search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/random.h"
#include "simulator/placement/advisor.h"
#include "simulator/placement/distance/annealing.h"
#include "simulator/placement/distance/grid_placement.h"
#include "simulator/placement/distance/host_levels.h"
#include "simulator/placement/distance/rank_grid.h"
#include "simulator/placement/distance/scotch_mapping.h"
#include "simulator/placement/distance/two_way_cut.h"
#include "simulator/placement/load_search.h"
#include "simulator/placement/path_cache.h"
#include "simulator/placement/recursive_bisection.h"
#include "simulator/placement/registry.h"
#include "simulator/routing/registry.h"
#include "test/unit/simulator/networks.h"

namespace fathom::simulator {
namespace {

using test::job_of;
using test::network_of;

constexpr std::uint64_t kBytes = 1000;

std::vector<HostId> every_host(const Network& network) {
  std::vector<HostId> hosts(network.host_count());
  std::iota(hosts.begin(), hosts.end(), 0u);
  return hosts;
}

PlaceCosts costs_of(const Network& network, const Job& job) {
  return PlaceCosts(network, job, every_host(network));
}

// Ranks numbered at random, so that no placement is good by accident.
Job renumbered(std::int64_t ranks, std::vector<profile::PairCount> pairs) {
  std::vector<std::int64_t> number(static_cast<std::size_t>(ranks));
  std::iota(number.begin(), number.end(), 0);
  base::Random random(3);
  for (std::size_t left = number.size(); left > 1; --left)
    std::swap(number[left - 1], number[random.below(left)]);
  for (profile::PairCount& pair : pairs) {
    pair.source = number[static_cast<std::size_t>(pair.source)];
    pair.destination = number[static_cast<std::size_t>(pair.destination)];
  }
  std::sort(pairs.begin(), pairs.end(), [](const auto& one, const auto& other) {
    return std::pair(one.source, one.destination) < std::pair(other.source, other.destination);
  });
  return job_of(ranks, std::move(pairs));
}

// Neighbours on a grid exchange kBytes in each direction.
Job halo(const std::vector<std::int64_t>& extent, bool periodic) {
  std::int64_t ranks = 1;
  for (const std::int64_t length : extent) ranks *= length;
  std::vector<profile::PairCount> pairs;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    std::int64_t stride = 1;
    for (const std::int64_t length : extent) {
      const std::int64_t at = rank / stride % length;
      const bool wraps = at + 1 == length && periodic && length > 2;
      const std::int64_t next = wraps ? rank - (length - 1) * stride : rank + stride;
      if (at + 1 < length || wraps) {
        pairs.push_back({rank, next, kBytes, 1});
        pairs.push_back({next, rank, kBytes, 1});
      }
      stride *= length;
    }
  }
  return renumbered(ranks, std::move(pairs));
}

Job groups(std::int64_t ranks, std::int64_t size) {
  std::vector<profile::PairCount> pairs;
  for (std::int64_t one = 0; one < ranks; ++one) {
    for (std::int64_t other = one / size * size; other < (one / size + 1) * size; ++other)
      if (one != other) pairs.push_back({one, other, kBytes, 1});
  }
  return renumbered(ranks, std::move(pairs));
}

double bytes_of(const Job& job) {
  double sum = 0;
  for (const profile::PairCount& pair : job.pairs) sum += static_cast<double>(pair.bytes);
  return sum;
}

double searched(const Network& network, const Job& job) {
  const std::vector<HostId> hosts = every_host(network);
  const auto placement = place_processes(**find_placement("search"), {network, job, hosts, 1});
  REQUIRE_MESSAGE(placement, placement.error().message);
  const auto scores = evaluate(network, job, *placement, **find_router("minimal"), 1, false);
  REQUIRE(scores);
  return (*scores)[Objective::kHopBytes];
}

// Hop-bytes between switches: hosts with a switch of their own add two hops to every byte.
double between_switches(const Network& network, const Job& job) {
  return searched(network, job) - 2 * bytes_of(job);
}

TEST_CASE("the search finds the optimum where every message can go to a neighbour") {
  CHECK(between_switches(network_of("torus:dims=8,8"), halo({8, 8}, true)) == 256'000);
  CHECK(between_switches(network_of("mesh:dims=8,8"), halo({8, 8}, false)) == 224'000);
  CHECK(between_switches(network_of("torus:dims=16,16"), halo({16, 16}, true)) == 1'024'000);
  CHECK(between_switches(network_of("mesh:dims=16,16"), halo({16, 16}, false)) == 960'000);
  CHECK(between_switches(network_of("torus:dims=4,4,4"), halo({4, 4, 4}, true)) == 384'000);
  // A ring of eight is part of a cube, and so are two of them of a torus of 4 x 4 x 4.
  CHECK(between_switches(network_of("torus:dims=4,4,4"), halo({8, 8}, true)) == 256'000);
  CHECK(between_switches(network_of("torus:dims=8,8,4"), halo({16, 16}, true)) == 1'024'000);
  CHECK(between_switches(network_of("torus:dims=8,8,4"), halo({8, 8, 4}, true)) == 1'536'000);
}

TEST_CASE("the search finds the optimum where groups fit a host, a switch or a subtree") {
  const Job sixteens = groups(256, 16);
  CHECK(searched(network_of("xgft:m=16,16;w=1,4"), sixteens) == 2 * bytes_of(sixteens));
  CHECK(searched(network_of("torus:dims=4,4;slots=16"), sixteens) == 0);
  CHECK(searched(network_of("dragonfly:switches=4;globals=1;hosts=16;groups=4"), sixteens) ==
        2 * bytes_of(sixteens));
  // Four switches of four hosts: of 15 partners, 3 are 2 links away and 12 are 4.
  CHECK(searched(network_of("xgft:m=4,4,16;w=1,2,2"), sixteens) == 256 * kBytes * (3 * 2 + 12 * 4));
}

TEST_CASE("tiles of a grid go to the switches of a tree") {
  // 16 switches of 16 hosts: tiles of 4 x 4, with 2 * 4 * (3 * 4 * 2) messages across their borders.
  const Job job = halo({16, 16}, false);
  const double across = 2 * 3 * 16 * 2 * kBytes;
  CHECK(searched(network_of("xgft:m=16,16;w=1,4"), job) ==
        2 * (bytes_of(job) - across) + 4 * across);
}

TEST_CASE("annealing alone finds the optimum of a small torus from any start") {
  const Network network = network_of("torus:dims=8,8");
  const Job job = halo({8, 8}, true);
  const PlaceCosts costs = costs_of(network, job);
  Places start(64);
  std::iota(start.begin(), start.end(), 0u);
  Annealing annealing(costs, start, 1);
  for (int run = 0; run < 8 && annealing.best_cost() > 768'000; ++run)
    annealing.run({1'000'000, 6, 0.05}, 768'000);
  CHECK(annealing.best_cost() == 768'000);
  CHECK(costs.of(annealing.best()) == 768'000);
}

TEST_CASE("annealing keeps account of its cost and of the slots, with groups of hosts exchanged") {
  NetworkBuilder builder("uneven");
  const auto top = builder.add_switch("top");
  std::vector<std::uint32_t> slots;
  for (std::uint32_t leaf = 0; leaf < 4; ++leaf) {
    const auto at = builder.add_switch("leaf" + std::to_string(leaf));
    builder.add_cable(at, top, 1, 0);
    for (std::uint32_t host = 0; host < 3; ++host) {
      slots.push_back(1 + (leaf + host) % 3);
      builder.add_cable(builder.add_host("n" + std::to_string(slots.size()), slots.back()), at, 1,
                        0);
    }
  }
  const Network network = *builder.build();
  const Job job = halo({5, 4}, false);  // 24 slots
  const PlaceCosts costs = costs_of(network, job);
  REQUIRE(costs.levels.size() == 1);
  CHECK(costs.levels.front()[1] == HostGroup{3, 4, 5});
  const auto start =
      costs.places_of(*place_processes(**find_placement("cyclic"), {network, job, costs.hosts, 1}));
  REQUIRE(start);
  Annealing annealing(costs, *start, 1);
  annealing.run({200'000, 4, 0.05}, 0);
  CHECK(annealing.best_cost() < costs.of(*start));
  CHECK(annealing.best_cost() == costs.of(annealing.best()));
  std::vector<std::uint32_t> used(slots.size(), 0);
  for (const std::uint32_t place : annealing.best()) ++used[place];
  for (std::size_t host = 0; host < slots.size(); ++host) CHECK(used[host] <= slots[host]);
}

TEST_CASE("the same seed and number of moves give the same placement") {
  const Network network = network_of("dragonfly:switches=4;globals=1;hosts=4;groups=4");
  const Job job = halo({8, 8}, false);
  const std::vector<HostId> hosts = every_host(network);
  const PlaceCosts costs = costs_of(network, job);
  std::set<std::string> shown;
  const SearchProgress progress = [&](const char* what, double part) {
    shown.insert(what);
    CHECK(part >= 0);
    CHECK(part <= 1.001);
  };
  const auto one = search_places({network, job, hosts, 5}, costs, {200'000, progress});
  const auto other = search_places({network, job, hosts, 5}, costs, {200'000, {}});
  REQUIRE(one);
  CHECK(*one == *other);
  CHECK(shown.count("annealing") == 1);
  const auto longer = search_places({network, job, hosts, 5}, costs, {2'000'000, {}});
  CHECK(costs.of(*longer) <= costs.of(*one));
}

TEST_CASE("bisection counts ranks outside the group and cuts by planes") {
  if (!has_bisection()) return;
  // A chain on a line: without terminals, halves of halves would be turned round.
  const Network line = network_of("mesh:dims=32");
  const Job chain = halo({32}, false);
  const PlaceCosts costs = costs_of(line, chain);
  const auto places = bisected(costs, {}, 1);
  REQUIRE(places);
  CHECK(costs.of(*places) == 3 * bytes_of(chain));
  const Network square = network_of("mesh:dims=16,16");
  const Job job = halo({16, 16}, false);
  const PlaceCosts of_square = costs_of(square, job);
  CHECK(of_square.of(*bisected(of_square, {}, 1)) <= 1.05 * 3 * bytes_of(job));
}

TEST_CASE("a cut keeps its sizes and is the best of all on small graphs") {
  base::Random random(1);
  for (int graph = 0; graph < 20; ++graph) {
    CAPTURE(graph);
    constexpr std::uint32_t kItems = 10;
    constexpr std::size_t kNear = 4;
    TwoWayCut cut(kItems);
    std::vector<double> pull(kItems, 0);
    std::vector<std::vector<double>> weight(kItems, std::vector<double>(kItems, 0));
    for (int pair = 0; pair < 15; ++pair) {
      const auto one = static_cast<std::uint32_t>(random.below(kItems)),
                 other = static_cast<std::uint32_t>(random.below(kItems));
      if (one == other) continue;
      const auto here = static_cast<double>(1 + random.below(9));
      weight[one][other] += here;
      cut.add_pair(one, other, here);
    }
    for (std::uint32_t item = 0; item < kItems; ++item) {
      pull[item] = static_cast<double>(random.below(7)) - 3;
      cut.add_pull(item, pull[item]);
    }
    const auto cost = [&](const std::vector<char>& side) {
      double sum = 0;
      for (std::uint32_t one = 0; one < kItems; ++one) {
        sum += side[one] == 1 ? pull[one] : 0;
        for (std::uint32_t other = 0; other < kItems; ++other)
          sum += side[one] != side[other] ? weight[one][other] : 0;
      }
      return sum;
    };
    std::vector<char> side = {0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
    double best = cost(side), found = best;
    do {
      best = std::min(best, cost(side));
    } while (std::next_permutation(side.begin(), side.end()));
    for (int start = 0; start < 8; ++start) {
      std::vector<char> drawn(kItems);
      for (char& one : drawn) one = random.below(2) == 0 ? 0 : 1;
      const double improved = cut.improve(drawn, kNear);
      CHECK(improved == doctest::Approx(cost(drawn)).scale(1));
      CHECK(std::count(drawn.begin(), drawn.end(), 0) == kNear);
      found = std::min(found, cost(drawn));
    }
    CHECK(found == doctest::Approx(best).scale(1));
  }
}

TEST_CASE("ranks on a grid are recognised whatever their numbers") {
  const auto extents = [](const RankGrid& grid) {
    return std::multiset<std::uint32_t>(grid.extent.begin(), grid.extent.end());
  };
  const Job open = halo({3, 4, 5}, false);
  const auto grid = find_rank_grid(RankGraph(open), 0);
  REQUIRE(grid);
  CHECK(extents(*grid) == std::multiset<std::uint32_t>{3, 4, 5});
  CHECK(std::count(grid->periodic.begin(), grid->periodic.end(), 0) == 3);
  for (const profile::PairCount& pair : open.pairs) {  // partners differ by one step
    std::uint32_t steps = 0;
    for (std::size_t dimension = 0; dimension < 3; ++dimension) {
      const auto one = grid->coordinates[static_cast<std::size_t>(pair.source)][dimension],
                 other = grid->coordinates[static_cast<std::size_t>(pair.destination)][dimension];
      steps += std::max(one, other) - std::min(one, other);
    }
    CHECK(steps == 1);
  }
  const auto rings = find_rank_grid(RankGraph(halo({5, 6}, true)), 0);
  REQUIRE(rings);
  CHECK(extents(*rings) == std::multiset<std::uint32_t>{5, 6});
  CHECK(std::count(rings->periodic.begin(), rings->periodic.end(), 1) == 2);
  // A ring of four is 2 x 2.
  const auto four = find_rank_grid(RankGraph(halo({4, 5}, true)), 0);
  REQUIRE(four);
  CHECK(extents(*four) == std::multiset<std::uint32_t>{2, 2, 5});
  CHECK_FALSE(find_rank_grid(RankGraph(groups(16, 16)), 0));
  CHECK_FALSE(find_rank_grid(RankGraph(groups(16, 4)), 0));
}

TEST_CASE("light messages on top of a grid do not hide it") {
  Job job = halo({6, 7}, false);
  for (std::int64_t rank = 1; rank < 42; ++rank)
    job.pairs.push_back({rank, 0, 8, 1});  // a reduction
  std::vector<profile::PairCount> merged;
  std::sort(job.pairs.begin(), job.pairs.end(), [](const auto& one, const auto& other) {
    return std::pair(one.source, one.destination) < std::pair(other.source, other.destination);
  });
  for (const profile::PairCount& pair : job.pairs) {
    if (!merged.empty() && merged.back().source == pair.source &&
        merged.back().destination == pair.destination) {
      merged.back().bytes += pair.bytes;
    } else {
      merged.push_back(pair);
    }
  }
  const Job both = job_of(42, std::move(merged));
  CHECK_FALSE(find_rank_grid(RankGraph(both), 0));
  CHECK(find_rank_grid(RankGraph(both), 1000));
  const Network network = network_of("mesh:dims=6,7");
  const PlaceCosts costs = costs_of(network, both);
  const auto places = place_on_grid(costs);
  REQUIRE(places);
  const PlaceCosts of_halo = costs_of(network, halo({6, 7}, false));
  CHECK(of_halo.of(*places) == 3 * bytes_of(halo({6, 7}, false)));
}

TEST_CASE("hosts form a box of dimensions or of levels, or none") {
  const Job job = job_of(2, {{0, 1, 1, 0}});
  const auto extents = [&](const std::string& specification) {
    const Network network = network_of(specification);
    return host_levels(costs_of(network, job))->extent;
  };
  using Extents = std::vector<std::uint32_t>;
  CHECK(extents("torus:dims=4,3;hosts=2;slots=5") == Extents{4, 3, 2, 5});
  CHECK(extents("xgft:m=4,3,2;w=1,2,2") == Extents{2, 3, 4});
  const Network torus = network_of("torus:dims=4,3");
  const std::vector<HostId> row = {3, 4, 5, 9, 10, 11}, corner = {0, 1, 3};
  CHECK(host_levels(PlaceCosts(torus, job, row))->extent == Extents{2, 3});
  CHECK_FALSE(host_levels(PlaceCosts(torus, job, corner)));
}

TEST_CASE("a rank whose partner's host is full is tried beside it") {
  const Network network = network_of("mesh:dims=256");
  const Job job = job_of(2, {{0, 1, 1000, 0}});
  const std::vector<HostId> hosts = every_host(network);
  const PlaceCosts costs = costs_of(network, job);
  const auto places = improve_loads({network, job, hosts, 1}, costs, **find_router("minimal"),
                                    Objective::kHopBytes, {0, 255});
  REQUIRE_MESSAGE(places, places.error().message);
  CHECK(costs.of(*places) == 3000);
}

TEST_CASE("paths that are routed when needed are the router's") {
  const Network network = network_of("xgft:m=4,4;w=1,2");
  const Job job = groups(16, 8);
  const std::vector<HostId> hosts = every_host(network);
  const PlacementRequest request{network, job, hosts, 1};
  Places places(16);
  std::iota(places.begin(), places.end(), 0u);
  auto paths = PathCache::make(request, **find_router("dmodk"), places);
  REQUIRE(paths);
  const auto of_job =
      PathCache::HostPair(static_cast<std::uint32_t>(job.pairs.front().source),
                          static_cast<std::uint32_t>(job.pairs.front().destination));
  CHECK(paths->has(of_job));
  std::vector<PathCache::HostPair> missing;
  for (std::uint32_t from = 0; from < 16; ++from) {
    for (std::uint32_t to = 0; to < 16; ++to) {
      if (!paths->has({from, to})) missing.push_back({from, to});
    }
  }
  REQUIRE_FALSE(missing.empty());
  REQUIRE(paths->add(missing));
  for (std::uint32_t from = 0; from < 16; ++from) {
    for (std::uint32_t to = 0; to < 16; ++to) {
      const auto path = paths->path({from, to});
      REQUIRE(path.size() == (from == to ? 0 : from / 4 == to / 4 ? 2 : 4));
      if (path.empty()) continue;
      CHECK(network.link(path.front()).source == from);
      CHECK(network.link(path.back()).target == to);
    }
  }
}

TEST_CASE("only the objective asked for is timed") {
  const Network network = network_of("xgft:m=4,4;w=1,2");
  const Job job = halo({4, 4}, false);
  Placement present = every_host(network);
  for (const Objective objective : {Objective::kCongestion, Objective::kTime}) {
    const auto advice = advise({network,
                                job,
                                every_host(network),
                                present,
                                {*find_router("dmodk")},
                                objective,
                                1,
                                {100'000, {}}});
    REQUIRE_MESSAGE(advice, advice.error().message);
    for (const Candidate& candidate : advice->candidates)
      CHECK((candidate.scores[Objective::kTime] > 0) == (objective == Objective::kTime));
  }
}

TEST_CASE("a bound that is only rounding is no bound") {
  // Groups that fit the hosts: nothing has to leave any.
  const Network network = network_of("torus:dims=4,4;slots=16");
  const Job job = groups(256, 16);
  const Scores bounds = lower_bounds(network, job, every_host(network), costs_of(network, job));
  for (const double bound : bounds.value) CHECK(bound == 0);
}

// Four switches in a ring, whose hosts have few and many slots; 14 in all.
Network ring_of_uneven_hosts() {
  NetworkBuilder builder("ring");
  std::vector<NodeId> switches;
  for (const std::uint32_t slots : {1u, 7u, 2u, 4u}) {
    switches.push_back(builder.add_switch("s" + std::to_string(switches.size())));
    const NodeId host = builder.add_host("n" + std::to_string(switches.size()), slots);
    builder.add_cable(host, switches.back(), 1e9, 0);
  }
  for (std::size_t at = 0; at < switches.size(); ++at)
    builder.add_cable(switches[at], switches[(at + 1) % switches.size()], 1e9, 0);
  return *builder.build();
}

TEST_CASE("Scotch fills no host beyond its slots, and always gives the same placements") {
  if (!has_scotch()) return;
  const Network torus = network_of("torus:dims=4,4"), tree = network_of("xgft:m=4,4;w=1,2;slots=2"),
                ring = ring_of_uneven_hosts();
  const std::pair<const Network*, Job> cases[] = {{&torus, halo({4, 4}, true)},
                                                  {&torus, halo({3, 4}, false)},
                                                  {&tree, halo({4, 4, 2}, true)},
                                                  {&ring, halo({2, 7}, false)},
                                                  {&ring, halo({3, 3}, true)}};
  for (const auto& [network, job] : cases) {
    const PlaceCosts costs = costs_of(*network, job);
    const std::vector<Places> mappings = scotch_mappings(costs);
    REQUIRE(!mappings.empty());
    for (const Places& places : mappings) {
      std::vector<std::uint32_t> used(costs.hosts.size(), 0);
      for (const std::uint32_t host : places) ++used.at(host);
      for (std::size_t host = 0; host < used.size(); ++host) CHECK(used[host] <= costs.slots[host]);
    }
    CHECK(scotch_mappings(costs) == mappings);
  }
}

TEST_CASE("the search is never worse than Scotch") {
  const Network torus = network_of("torus:dims=8,8");
  const Job job = halo({4, 4, 4}, false);
  const PlaceCosts costs = costs_of(torus, job);
  const auto found = search_places({torus, job, costs.hosts}, costs, {1, {}});
  REQUIRE(found);
  for (const Places& places : scotch_mappings(costs)) CHECK(costs.of(*found) <= costs.of(places));
}

TEST_CASE("bytes beyond Scotch's integers are no other job to it") {
  if (!has_scotch()) return;
  const Network torus = network_of("torus:dims=4,4");
  Job job = halo({4, 4}, true), large = job;
  for (profile::PairCount& pair : large.pairs) pair.bytes *= 1'000'000'000'000;
  CHECK(scotch_mappings(costs_of(torus, large)) == scotch_mappings(costs_of(torus, job)));
}

}  // namespace
}  // namespace fathom::simulator

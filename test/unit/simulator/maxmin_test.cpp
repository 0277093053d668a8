// SPDX-License-Identifier: BSD-3-Clause
// Max-min fair rates: the equations first (feasible, and a bottleneck for every flow), then cases
// worked out by hand, then random flows that come and go, compared with a very simple solver.
#include "simulator/flow/maxmin.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <vector>

namespace fathom::simulator {
namespace {

using Link = MaxMin::Link;
using Flow = MaxMin::Flow;

struct Demand {
  std::vector<Link> route;
  double weight = 1;
  double bound = MaxMin::kUnbounded;
};

// A solver and the demands of its flows.
struct Network {
  explicit Network(std::vector<double> capacities) : capacities(capacities), solver(capacities) {}

  Flow add(const Demand& demand) {
    const Flow flow = solver.add(demand.route, demand.weight, demand.bound);
    CHECK(demands.emplace(flow, demand).second);
    return flow;
  }
  void remove(Flow flow) {
    solver.remove(flow);
    demands.erase(flow);
  }
  void set_capacity(Link link, double capacity) {
    solver.set_capacity(link, capacity);
    capacities[link] = capacity;
  }
  double level(Flow flow) const { return solver.rate(flow) / demands.at(flow).weight; }

  std::vector<double> capacities;
  MaxMin solver;
  std::map<Flow, Demand> demands;
};

double load(const Network& network, Link link) {
  double sum = 0;
  for (const auto& [flow, demand] : network.demands) {
    for (Link on : demand.route) sum += on == link ? network.solver.rate(flow) : 0;
  }
  return sum;
}

double highest_level(const Network& network, Link link) {
  double highest = 0;
  for (const auto& [flow, demand] : network.demands) {
    if (std::count(demand.route.begin(), demand.route.end(), link) > 0) {
      highest = std::max(highest, network.level(flow));
    }
  }
  return highest;
}

// Slack: kTolerance for each condition, and as much for the rounding of the sums here.
constexpr double kSlack = 3 * MaxMin::kTolerance;

bool is_bottleneck(const Network& network, Flow flow, Link link) {
  return load(network, link) >= network.capacities[link] * (1 - kSlack) &&
         network.level(flow) >= highest_level(network, link) * (1 - kSlack);
}

// The definition in maxmin.h, line by line.
void check_equations(const Network& network) {
  for (Link link = 0; link < network.capacities.size(); ++link) {
    const double sum = load(network, link);
    CHECK(sum <= network.capacities[link] * (1 + kSlack));
    CHECK(network.solver.load(link) == doctest::Approx(sum).epsilon(kSlack));
  }
  for (const auto& [flow, demand] : network.demands) {
    CHECK(network.solver.rate(flow) <= demand.bound * (1 + kSlack));
    const bool at_bound = network.solver.rate(flow) >= demand.bound * (1 - kSlack);
    const Link bottleneck = network.solver.bottleneck(flow);
    if (bottleneck == MaxMin::kNoLink) {
      CHECK(at_bound);
    } else {
      CHECK(std::count(demand.route.begin(), demand.route.end(), bottleneck) > 0);
      CHECK(is_bottleneck(network, flow, bottleneck));
    }
  }
}

// Repeatedly raises the rates of all unlimited flows by the most that every link and bound allows.
// O(flows^2 * links).
std::map<Flow, double> brute_force(const Network& network) {
  std::map<Flow, double> rates, growing;
  std::vector<double> room = network.capacities;
  for (const auto& [flow, demand] : network.demands) growing[flow] = demand.weight;
  while (!growing.empty()) {
    std::vector<double> weight(room.size());
    for (const auto& [flow, w] : growing) {
      for (Link link : network.demands.at(flow).route) weight[link] += w;
    }
    double step = MaxMin::kUnbounded;
    for (Link link = 0; link < room.size(); ++link) {
      if (weight[link] > 0) step = std::min(step, std::max(0.0, room[link]) / weight[link]);
    }
    for (const auto& [flow, w] : growing) {
      step = std::min(step, (network.demands.at(flow).bound - rates[flow]) / w);
    }
    for (Link link = 0; link < room.size(); ++link) room[link] -= step * weight[link];
    for (auto at = growing.begin(); at != growing.end();) {
      const Demand& demand = network.demands.at(at->first);
      double& rate = rates[at->first];
      rate += step * at->second;
      bool stopped = rate >= demand.bound * (1 - 1e-12);
      for (Link link : demand.route) stopped |= room[link] <= 1e-11 * network.capacities[link];
      at = stopped ? growing.erase(at) : std::next(at);
    }
  }
  return rates;
}

void check_against_brute_force(const Network& network) {
  for (const auto& [flow, rate] : brute_force(network)) {
    CHECK(network.solver.rate(flow) == doctest::Approx(rate).epsilon(1e-8));
  }
}

TEST_CASE("one link is shared equally, by weight, and up to bounds") {
  Network network({12});
  const Flow first = network.add({{0}}), second = network.add({{0}});
  network.solver.solve();
  CHECK(network.solver.rate(first) == doctest::Approx(6));
  CHECK(network.solver.rate(second) == doctest::Approx(6));

  const Flow heavy = network.add({{0}, 4});
  network.solver.solve();
  CHECK(network.solver.rate(first) == doctest::Approx(2));
  CHECK(network.solver.rate(heavy) == doctest::Approx(8));

  const Flow bounded = network.add({{0}, 1, 0.6});
  network.solver.solve();
  CHECK(network.solver.rate(bounded) == doctest::Approx(0.6));
  CHECK(network.solver.bottleneck(bounded) == MaxMin::kNoLink);
  CHECK(network.solver.rate(second) == doctest::Approx(1.9));
  CHECK(network.solver.rate(heavy) == doctest::Approx(7.6));
  check_equations(network);
}

// Bertsekas & Gallager, figure 6.17 in kind: long and short sessions over a chain of links.
TEST_CASE("the long flow of a parking lot gets the share of the most crowded link") {
  Network network({1, 1, 2});
  const Flow all = network.add({{0, 1, 2}});
  const Flow a = network.add({{0}}), b = network.add({{1}}), c = network.add({{1}}),
             d = network.add({{2}});
  network.solver.solve();
  CHECK(network.solver.rate(all) == doctest::Approx(1.0 / 3));
  CHECK(network.solver.rate(a) == doctest::Approx(2.0 / 3));
  CHECK(network.solver.rate(b) == doctest::Approx(1.0 / 3));
  CHECK(network.solver.rate(c) == doctest::Approx(1.0 / 3));
  CHECK(network.solver.rate(d) == doctest::Approx(5.0 / 3));
  CHECK(network.solver.bottleneck(all) == 1);
  check_equations(network);
}

TEST_CASE("a link that a route names twice counts twice") {
  Network network({9});
  const Flow twice = network.add({{0, 0}}), once = network.add({{0}});
  network.solver.solve();
  CHECK(network.solver.rate(twice) == doctest::Approx(3));
  CHECK(network.solver.rate(once) == doctest::Approx(3));
  check_equations(network);
}

TEST_CASE("flows without links are unbounded, and flows over a link without capacity get nothing") {
  Network network({0, 5});
  network.solver.solve();
  CHECK(network.solver.changed_flows().empty());
  const Flow free = network.add({{}}), bounded = network.add({{}, 2, 3}),
             blocked = network.add({{0, 1}}), open = network.add({{1}});
  network.solver.solve();
  CHECK(network.solver.rate(free) == MaxMin::kUnbounded);
  CHECK(network.solver.rate(bounded) == 3);
  CHECK(network.solver.rate(blocked) == 0);
  CHECK(network.solver.rate(open) == doctest::Approx(5));
  network.remove(open);
  network.set_capacity(0, 2);
  network.solver.solve();
  CHECK(network.solver.rate(blocked) == doctest::Approx(2));
  check_equations(network);
}

TEST_CASE("a flow that leaves frees capacity along its chain only") {
  // Flow k uses links k and k+1; a second chain, links 10 to 13, shares nothing with the first.
  Network network({4, 3, 8, 6, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1});
  const Flow first = network.add({{0, 1}}), second = network.add({{1, 2}}),
             third = network.add({{2, 3}});
  network.add({{10, 11}});
  network.add({{12, 13}});
  network.solver.solve();
  CHECK(network.solver.rate(first) == doctest::Approx(1.5));
  CHECK(network.solver.rate(second) == doctest::Approx(1.5));
  CHECK(network.solver.rate(third) == doctest::Approx(6));
  network.remove(first);
  network.solver.solve();
  CHECK(network.solver.rate(second) == doctest::Approx(3));
  CHECK(network.solver.rate(third) == doctest::Approx(5));
  CHECK(network.solver.changed_flows() == std::vector<Flow>{second, third});
  check_equations(network);
}

// A rounding error once remained, and the link was said to be in use for ever.
TEST_CASE("a link without flows carries exactly nothing") {
  Network network({1, 7});
  std::vector<Flow> flows;
  for (const double weight : {0.1, 0.7, 0.3, 1.3, 0.9})
    flows.push_back(network.add({.route = {0, 1}, .weight = weight}));
  network.solver.solve();
  for (const Flow flow : flows) network.remove(flow);
  network.solver.solve();
  CHECK(network.solver.load(0) == 0);
  CHECK(network.solver.load(1) == 0);
}

TEST_CASE("symmetric flows get identical rates despite rounding") {
  constexpr Link kHosts = 60;
  Network network(std::vector<double>(2 * kHosts, 0.1));
  std::vector<Flow> flows;
  for (Link from = 0; from < kHosts; ++from) {
    for (Link to = 0; to < kHosts; ++to) {
      if (from != to) flows.push_back(network.add({{from, kHosts + to}}));
    }
  }
  network.solver.solve();
  for (Flow flow : flows) CHECK(network.solver.rate(flow) == network.solver.rate(flows.front()));
  CHECK(network.solver.rate(flows.front()) == doctest::Approx(0.1 / (kHosts - 1)));
}

TEST_CASE("the cost of a change depends on the flows it affects, not on all flows") {
  // 1,000 pairs of links with ten flows each: a flow that leaves affects the nine on its links.
  constexpr Link kPairs = 1000;
  Network network(std::vector<double>(2 * kPairs, 1));
  std::vector<Flow> flows;
  for (Link pair = 0; pair < kPairs; ++pair) {
    for (int flow = 0; flow < 10; ++flow) flows.push_back(network.add({{2 * pair, 2 * pair + 1}}));
  }
  network.solver.solve();
  const std::uint64_t before = network.solver.settled_hops();
  CHECK(before == 20 * kPairs);
  network.remove(flows[5000]);
  network.solver.solve();
  CHECK(network.solver.settled_hops() - before == 18);
  CHECK(network.solver.changed_flows().size() == 9);
  CHECK(network.solver.rate(flows[5001]) == doctest::Approx(1.0 / 9));
}

Demand random_demand(std::mt19937& random, Link links) {
  Demand demand;
  const auto pick = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  for (unsigned length = pick(5); length > 0; --length) demand.route.push_back(pick(links));
  if (pick(3) == 0) demand.weight = 0.25 * (1 + pick(12));
  if (pick(4) == 0 || demand.route.empty()) demand.bound = 0.5 + pick(20);
  return demand;
}

void change(Network& network, std::mt19937& random, Link links) {
  const unsigned what = random() % 10;
  if (what < 5 || network.demands.empty()) {
    network.add(random_demand(random, links));
  } else if (what < 9) {
    auto flow = network.demands.begin();
    std::advance(flow, random() % network.demands.size());
    network.remove(flow->first);
  } else {
    network.set_capacity(static_cast<Link>(random() % links), static_cast<double>(random() % 40));
  }
}

TEST_CASE("random flows that come and go have the bottlenecks and rates of brute force") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const Link links = 2 + seed % 19;
    std::vector<double> capacities;
    for (Link link = 0; link < links; ++link) capacities.push_back(1 + random() % 30);
    Network network(capacities);
    for (unsigned flows = random() % 60; flows > 0; --flows)
      network.add(random_demand(random, links));
    for (int round = 0; round < 40; ++round) {
      for (unsigned changes = random() % 4; changes > 0; --changes) change(network, random, links);
      network.solver.solve();
      check_equations(network);
      check_against_brute_force(network);
    }
  }
}

TEST_CASE("only the flows reported as changed have changed") {
  std::mt19937 random(7);
  Network network(std::vector<double>(12, 10));
  std::map<Flow, double> rates;
  for (int round = 0; round < 300; ++round) {
    change(network, random, 12);
    network.solver.solve();
    for (Flow flow : network.solver.changed_flows()) rates[flow] = network.solver.rate(flow);
    for (const auto& [flow, demand] : network.demands)
      CHECK(rates[flow] == network.solver.rate(flow));
  }
}

}  // namespace
}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
// Flows over time: ends worked out by hand, conservation of bytes, few solutions for symmetric
// patterns.
#include "simulator/flow/flow_model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "simulator/flow/link_usage.h"

namespace fathom::simulator {
namespace {

using Route = std::vector<std::uint32_t>;

FlowModel model_of(const std::vector<LinkSpeed>& links) { return *FlowModel::create(links); }

std::map<std::uint64_t, double> run(FlowModel& model) {
  std::map<std::uint64_t, double> ends;
  double before_s = 0;
  while (model.next_event_s() != FlowModel::kNever) {
    CHECK(model.next_event_s() >= before_s);
    for (const EndedFlow& flow : model.step()) CHECK(ends.emplace(flow.tag, flow.end_s).second);
    before_s = model.now_s();
  }
  CHECK(model.flows_under_way() == 0);
  return ends;
}

TEST_CASE("a single flow takes the route's latencies plus size over its slowest link") {
  FlowModel model = model_of({{100, 0.5}, {50, 0.25}, {200, 1}});
  const Route route = {0, 1, 2};
  CHECK(model.start({route, 400, 3, 7}).ok());
  CHECK(run(model)[7] == doctest::Approx(3 + 1.75 + 400.0 / 50));
}

TEST_CASE("remaining flows speed up when one ends and slow down when one begins") {
  // Both share 10 B/s: A (60 bytes) from 0, B (20 bytes) from 2 with latency 1.
  // 0-3: A alone, 30 left. 3-7: 5 B/s each, B ends at 7, A has 10 left and ends at 8.
  FlowModel model = model_of({{10, 0}, {1000, 1}});
  const Route a = {0}, b = {0, 1};
  CHECK(model.start({a, 60, 0, 1}).ok());
  CHECK(model.start({b, 20, 2, 2}).ok());
  auto ends = run(model);
  CHECK(ends[1] == doctest::Approx(8));
  CHECK(ends[2] == doctest::Approx(7));
}

TEST_CASE("weights and bounds shape the rates") {
  FlowModel model = model_of({{12, 0}});
  const Route route = {0};
  CHECK(model.start({.route = route, .size_bytes = 90, .tag = 1, .weight = 3}).ok());
  CHECK(model.start({.route = route, .size_bytes = 30, .tag = 2}).ok());
  CHECK(model.start({.route = route, .size_bytes = 20, .tag = 3, .rate_bound_Bps = 2}).ok());
  CHECK(model.start({.route = {}, .size_bytes = 20, .tag = 4, .rate_bound_Bps = 4}).ok());
  auto ends = run(model);
  CHECK(ends[4] == doctest::Approx(5));
  // 7.5 and 2.5 B/s, and the bounded one 2 B/s, until 10; then 90 - 75 at 9 and 30 - 25 at 3 B/s.
  CHECK(ends[3] == doctest::Approx(10));
  CHECK(ends[1] == doctest::Approx(10 + 15.0 / 9));
  CHECK(ends[2] == doctest::Approx(10 + 5.0 / 3));
}

TEST_CASE("an empty flow still takes the latency, and without links no time") {
  FlowModel model = model_of({{10, 2}});
  const Route route = {0};
  CHECK(model.start({route, 0, 1, 1}).ok());
  CHECK(model.start({{}, 1e9, 4, 2}).ok());
  auto ends = run(model);
  CHECK(ends[1] == 3);
  CHECK(ends[2] == 4);
}

// Every pair of hosts below one switch: host h sends over link h, receives over link hosts + h.
struct Star {
  explicit Star(std::uint32_t host_count) : hosts(host_count) {
    for (std::uint32_t from = 0; from < hosts; ++from) {
      for (std::uint32_t to = 0; to < hosts; ++to) {
        if (from != to) routes.push_back({from, hosts + to});
      }
    }
  }
  std::vector<LinkSpeed> links() const { return std::vector<LinkSpeed>(2 * hosts, {1e9, 1e-6}); }

  std::uint32_t hosts;
  std::vector<Route> routes;
};

TEST_CASE("a symmetric all-to-all ends at one instant and needs two solutions") {
  const Star star(64);
  FlowModel model = model_of(star.links());
  for (const Route& route : star.routes) CHECK(model.start({route, 1e5}).ok());
  double last_s = 0;
  std::size_t ended = 0;
  while (model.next_event_s() != FlowModel::kNever) {
    for (const EndedFlow& flow : model.step()) {
      CHECK(flow.end_s == doctest::Approx(2e-6 + 63 * 1e5 / 1e9).epsilon(1e-9));
      last_s = std::max(last_s, flow.end_s);
      ++ended;
    }
  }
  CHECK(ended == star.routes.size());
  CHECK(model.solutions() <= 2);  // when all begin, and when all have ended
}

TEST_CASE("each link has carried what was sent over it, in the right intervals") {
  const Star star(12);
  FlowModel model = model_of(star.links());
  LinkUsage usage(2 * star.hosts, 8, 1e-6);
  model.keep_usage(&usage);
  std::mt19937 random(3);
  std::vector<double> sent(2 * star.hosts);
  for (const Route& route : star.routes) {
    const double size_bytes = 1 + random() % 100000;
    CHECK(model.start({route, size_bytes, 1e-6 * (random() % 500)}).ok());
    for (std::uint32_t link : route) sent[link] += size_bytes;
  }
  while (model.next_event_s() != FlowModel::kNever) model.step();
  usage.bring_to(model.now_s());
  CHECK(usage.interval_s() * 8 >= model.now_s());
  for (std::uint32_t link = 0; link < sent.size(); ++link) {
    CHECK(usage.total_bytes(link) == doctest::Approx(sent[link]).epsilon(1e-6));
    for (std::size_t interval = 0; interval < usage.intervals(); ++interval) {
      CHECK(usage.bytes(link, interval) <= 1e9 * usage.interval_s() * (1 + 1e-9));
    }
  }
}

TEST_CASE("intervals of link usage grow while bytes stay in place") {
  LinkUsage usage(2, 4, 1);
  usage.change(1, 0.5, 10);
  usage.change(1, 2.5, 2);
  usage.bring_to(4);
  CHECK(usage.bytes(1, 0) == doctest::Approx(5));
  CHECK(usage.bytes(1, 1) == doctest::Approx(10));
  CHECK(usage.bytes(1, 2) == doctest::Approx(6));
  CHECK(usage.bytes(1, 3) == doctest::Approx(2));
  usage.bring_to(9);
  CHECK(usage.interval_s() == 4);
  CHECK(usage.bytes(1, 0) == doctest::Approx(23));
  CHECK(usage.bytes(1, 1) == doctest::Approx(8));
  CHECK(usage.bytes(1, 2) == doctest::Approx(2));
  CHECK(usage.total_bytes(0) == 0);
}

// The same flows, started while others are under way, in many small steps of a plain integration.
TEST_CASE("random flows end when an integration in tiny steps says so") {
  std::mt19937 random(11);
  for (int round = 0; round < 5; ++round) {
    const Star star(4);
    FlowModel model = model_of(std::vector<LinkSpeed>(8, {100, 0}));
    struct Sent {
      double start_s, left_bytes, end_s = 0;
      MaxMin::Flow rated = 0;
      bool begun = false;
    };
    std::vector<Sent> flows;
    for (std::size_t index = 0; index < star.routes.size(); ++index) {
      flows.push_back({0.01 * (random() % 300), 1.0 + random() % 200});
      CHECK(model.start({star.routes[index], flows.back().left_bytes, flows.back().start_s, index})
                .ok());
    }
    constexpr double kStep = 1e-3;
    MaxMin rates(std::vector<double>(8, 100));
    for (double now_s = 0; now_s < 40; now_s += kStep) {
      for (std::size_t index = 0; index < flows.size(); ++index) {
        Sent& flow = flows[index];
        if (!flow.begun && flow.start_s <= now_s + kStep / 2) {
          flow.begun = true;
          flow.rated = rates.add(star.routes[index]);
        }
      }
      rates.solve();
      for (Sent& flow : flows) {
        if (!flow.begun || flow.end_s > 0) continue;
        flow.left_bytes -= kStep * rates.rate(flow.rated);
        if (flow.left_bytes > 0) continue;
        flow.end_s = now_s + kStep;
        rates.remove(flow.rated);
      }
    }
    auto ends = run(model);
    for (std::size_t index = 0; index < flows.size(); ++index) {
      CHECK(ends[index] == doctest::Approx(flows[index].end_s).epsilon(0.01));
    }
  }
}

TEST_CASE("input that cannot be simulated is refused by name") {
  CHECK(FlowModel::create({{1, 0}, {0, 0}}).error().message.find("capacity of link 1") !=
        std::string::npos);
  CHECK(FlowModel::create({{1, -1}}).error().message.find("latency of link 0") !=
        std::string::npos);
  FlowModel model = model_of({{1, 0}});
  const Route nowhere = {4}, route = {0};
  CHECK(model.start({nowhere, 1}).error().message.find("link 4; there are 1") != std::string::npos);
  CHECK_FALSE(model.start({route, -1}).ok());
  CHECK_FALSE(model.start({route, 1, 0, 0, 0}).ok());
  CHECK_FALSE(model.start({route, 1, 0, 0, 1, 0}).ok());
  CHECK(model.start({route, 10}).ok());
  run(model);
  CHECK_FALSE(model.start({route, 1, 5}).ok());  // now it is 10 s
}

}  // namespace
}  // namespace fathom::simulator

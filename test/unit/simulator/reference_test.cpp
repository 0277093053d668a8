// SPDX-License-Identifier: BSD-3-Clause
// The reference simulator's example: NAS CG and MILC on the cluster "milk". Its archives are not
// shipped; where they are absent these tests say so and pass.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>

#include "simulator/formats/cluster.h"
#include "simulator/placement/registry.h"
#include "simulator/routing/registry.h"
#include "simulator/run/one_job.h"

namespace fathom::simulator {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool data_is_absent() {
  if (std::filesystem::exists(environment("FATHOM_REFERENCE_DATA") + "/milk.graphml")) return false;
  MESSAGE("skipped: the reference simulator's example data is not there");
  return true;
}

// Runs that several checks look at are simulated once.
class Milk {
 public:
  Milk() : network_(load_cluster(environment("FATHOM_REFERENCE_DATA") + "/milk.graphml")) {
    REQUIRE_MESSAGE(network_, network_.error().message);
  }
  const Network& network() const { return *network_; }

  const LinkUse& use(const std::string& job, const std::string& placement,
                     const std::string& routing) {
    auto [run, is_new] = runs_.try_emplace({job, placement, routing}, LinkUse(*network_));
    if (is_new) run->second = simulate(job, placement, routing);
    return run->second;
  }

 private:
  LinkUse simulate(const std::string& name, const std::string& placement,
                   const std::string& routing) {
    const auto job = load_job(environment("FATHOM_REFERENCE_DATA") + "/" + name + ".tar.gz");
    REQUIRE_MESSAGE(job, job.error().message);
    Choice choice;
    choice.selector = *find_selector("linear");
    choice.placement = *find_placement(placement);
    choice.router = *find_router(routing);
    auto run = run_link_load(*network_, *job, choice);
    REQUIRE_MESSAGE(run, run.error().message);
    return run->use;
  }

  base::Result<Network> network_;
  std::map<std::tuple<std::string, std::string, std::string>, LinkUse> runs_;
};

TEST_CASE("bytes and flows on every link are those of the reference") {
  if (data_is_absent()) return;
  Milk milk;
  std::ifstream table(environment("FATHOM_SIMULATOR_DATA") + "/milk_link_loads.txt");
  std::string line;
  int links = 0;
  while (std::getline(table, line)) {
    if (line.starts_with('#')) continue;
    CAPTURE(line);
    std::istringstream words(line);
    std::string job, placement, routing, source, target;
    double bytes = 0, flows = 0;
    words >> job >> placement >> routing >> source >> target >> bytes >> flows;
    REQUIRE(words);
    const LinkId link = milk.network().find_link(milk.network().find_node(source),
                                                 milk.network().find_node(target));
    REQUIRE(link != kNoId);
    CHECK(milk.use(job, placement, routing).bytes[link] == bytes);
    CHECK(milk.use(job, placement, routing).flows[link] == flows);
    ++links;
  }
  CHECK(links == 192);
}

TEST_CASE(
    "the largest traffic relative to block placement with D-mod-K is that of the paper's table") {
  if (data_is_absent()) return;
  Milk milk;
  struct Row {
    const char* job;
    const char* placement;
    const char* routing;
    double published;
  };
  for (const Row& row :
       {Row{"cg-c-128", "block", "dmodk", 1}, Row{"cg-c-128", "block", "greedy-max", 0.500022154},
        Row{"cg-c-128", "cyclic", "dmodk", 1.975045414},
        Row{"cg-c-128", "cyclic", "greedy-max", 1.750011088}, Row{"milc-128", "block", "dmodk", 1},
        Row{"milc-128", "block", "greedy-max", 0.824892101},
        Row{"milc-128", "cyclic", "dmodk", 1.249268351},
        Row{"milc-128", "cyclic", "greedy-max", 1.054598915}}) {
    const auto largest = [&](const char* placement, const char* routing) {
      return load_figures(milk.network(), milk.use(row.job, placement, routing), false).max_traffic;
    };
    CAPTURE(row.job);
    CAPTURE(row.placement);
    CAPTURE(row.routing);
    const double ratio = largest(row.placement, row.routing) / largest("block", "dmodk");
    CHECK(std::abs(ratio - row.published) < 0.5e-9);  // nine digits are published
  }
}

TEST_CASE("the largest congestion, flows and deviation are those of the reference") {
  if (data_is_absent()) return;
  Milk milk;
  const LoadFigures block =
      load_figures(milk.network(), milk.use("cg-c-128", "block", "greedy-max"), false);
  CHECK(block.max_congestion == 2964262664.0);
  CHECK(block.max_flows == 114);
  CHECK(std::abs(block.congestion_deviation - 765301544) < 0.5);
  const LoadFigures cyclic =
      load_figures(milk.network(), milk.use("milc-128", "cyclic", "dmodk"), false);
  CHECK(cyclic.max_traffic == 5743219456.0);
  CHECK(cyclic.max_flows == 80);
  CHECK(std::abs(cyclic.congestion_deviation - 1.65719586e+09) < 5);
}

TEST_CASE("trunks with four times a host link's capacity count a quarter (pepsi)") {
  if (data_is_absent()) return;
  const auto pepsi = load_cluster(environment("FATHOM_REFERENCE_DATA") + "/pepsi.graphml");
  REQUIRE_MESSAGE(pepsi, pepsi.error().message);
  const auto job = load_job(environment("FATHOM_REFERENCE_DATA") + "/cg-c-128.tar.gz");
  REQUIRE(job);
  Choice choice;
  choice.selector = *find_selector("linear");
  choice.placement = *find_placement("block");
  choice.router = *find_router("dmodk");
  const auto run = run_link_load(*pepsi, *job, choice);
  REQUIRE(run);
  const LoadFigures figures = load_figures(*pepsi, run->use, false);
  CHECK(figures.max_traffic > 0);
  CHECK(figures.max_congestion == figures.max_traffic / 4);
}

}  // namespace
}  // namespace fathom::simulator

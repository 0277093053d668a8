// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/distance/scotch_mapping.h"

#include <scotch/scotch.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>

#include "base/order/sort_stably.h"
#include "simulator/placement/distance/host_levels.h"

namespace fathom::simulator {
namespace {

// All graphs and architectures share one random state.
std::mutex scotch_mutex;

// Scotch's objects are C structures with a function that begins and one that ends each of them.
template <typename Object, int (*Begin)(Object*), void (*End)(Object*)>
class Owned {
 public:
  Owned() { Begin(&object_); }
  ~Owned() { End(&object_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Object* get() { return &object_; }

 private:
  Object object_;
};
using Graph = Owned<SCOTCH_Graph, SCOTCH_graphInit, SCOTCH_graphExit>;
using Architecture = Owned<SCOTCH_Arch, SCOTCH_archInit, SCOTCH_archExit>;
using Context = Owned<SCOTCH_Context, SCOTCH_contextInit, SCOTCH_contextExit>;
using Strategy = Owned<SCOTCH_Strat, SCOTCH_stratInit, SCOTCH_stratExit>;

// Each pair of ranks is in the lists of both. Bytes are divided where sums over all pairs and hops would
// not fit into Scotch's integers.
class JobGraph {
 public:
  explicit JobGraph(const PlaceCosts& costs) {
    double sum = 0;
    std::uint16_t farthest = 1;
    const auto ranks = static_cast<std::uint32_t>(costs.graph.rank_count());
    for (std::uint32_t rank = 0; rank < ranks; ++rank) sum += costs.graph.total(rank);
    for (std::size_t host = 0; host < costs.hosts.size(); ++host) {
      const auto row = costs.distances.from(host);
      farthest = std::max(farthest, *std::max_element(row.begin(), row.end()));
    }
    constexpr double kMost = std::numeric_limits<SCOTCH_Num>::max() / 4.0;
    const double divisor = std::max(1.0, sum * farthest / kMost);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (const RankGraph::Neighbour& edge : costs.graph.of(rank)) {
        partners_.push_back(static_cast<SCOTCH_Num>(edge.rank));
        bytes_.push_back(
            std::max<SCOTCH_Num>(1, static_cast<SCOTCH_Num>(std::llround(edge.bytes / divisor))));
      }
      first_.push_back(static_cast<SCOTCH_Num>(partners_.size()));
    }
    built_ =
        SCOTCH_graphBuild(graph_.get(), 0, static_cast<SCOTCH_Num>(ranks), first_.data(), nullptr,
                          nullptr, nullptr, first_.back(), partners_.data(), bytes_.data()) == 0;
  }

  bool is_built() const { return built_; }
  SCOTCH_Graph* get() { return graph_.get(); }

 private:
  Graph graph_;
  std::vector<SCOTCH_Num> first_ = {0}, partners_, bytes_;
  bool built_ = false;
};

// Numbers the parts of `hosts` that arise by halving: the halves of part n are 2n and 2n + 1.
void number_parts(HostGroup hosts, const HostCoordinates& coordinates, std::uint64_t part,
                  std::vector<std::uint64_t>& part_of) {
  if (hosts.size() == 1) {
    part_of[hosts.front()] = part;
    return;
  }
  std::size_t cut = cut_by_plane(hosts, coordinates);
  if (cut == 0) cut = (hosts.size() + 1) / 2;
  const auto middle = hosts.begin() + static_cast<std::ptrdiff_t>(cut);
  number_parts({hosts.begin(), middle}, coordinates, 2 * part, part_of);
  number_parts({middle, hosts.end()}, coordinates, 2 * part + 1, part_of);
}

// The network in the form that Scotch's manual calls a decomposition-defined architecture ("deco 0").
bool describe_hosts(const PlaceCosts& costs, SCOTCH_Arch* architecture) {
  HostGroup all(costs.hosts.size());
  std::iota(all.begin(), all.end(), 0u);
  std::vector<std::uint64_t> part_of(all.size());
  number_parts(all, grid_coordinates(costs), 1, part_of);
  std::string text = "deco\n0\n" + std::to_string(all.size()) + ' ' +
                     std::to_string(*std::max_element(part_of.begin(), part_of.end())) + '\n';
  for (const std::uint32_t host : all) {
    text += std::to_string(host) + ' ' + std::to_string(costs.slots[host]) + ' ' +
            std::to_string(part_of[host]) + '\n';
  }
  for (const std::uint32_t host : all) {
    for (std::uint32_t other = 0; other < host; ++other)
      text += std::to_string(costs.distances.between(host, other)) + ' ';
    text += '\n';
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      fmemopen(text.data(), text.size(), "r"), std::fclose);
  return file && SCOTCH_archLoad(architecture, file.get()) == 0;
}

// Hosts are numbered with the last coordinate running fastest, processors with the first.
bool describe_grid(const PlaceCosts& costs, SCOTCH_Arch* architecture) {
  const Grid* grid = costs.network.grid();
  if (grid == nullptr || grid->kind == Grid::Kind::kHyperX) return false;
  const auto coordinates = grid_coordinates(costs);
  if (coordinates.size() != grid->points()) return false;
  for (std::uint32_t point = 0; point < coordinates.size(); ++point) {
    if (costs.slots[point] != 1 || coordinates[point] != grid->coordinates(point)) return false;
  }
  std::vector<SCOTCH_Num> extent(grid->extent.rbegin(), grid->extent.rend());
  const auto dimensions = static_cast<SCOTCH_Num>(extent.size());
  return (grid->kind == Grid::Kind::kTorus
              ? SCOTCH_archTorusX(architecture, dimensions, extent.data())
              : SCOTCH_archMeshX(architecture, dimensions, extent.data())) == 0;
}

// Scotch may overfill hosts within its imbalance. Ranks with the fewest bytes move to the free slots
// that cost least.
void fit_into_slots(const PlaceCosts& costs, Places& places) {
  std::vector<HostGroup> ranks_on(costs.hosts.size());
  for (std::uint32_t rank = 0; rank < places.size(); ++rank) ranks_on[places[rank]].push_back(rank);
  const auto has_room = [&](std::uint32_t host) {
    return ranks_on[host].size() < costs.slots[host];
  };
  for (std::uint32_t host = 0; host < ranks_on.size(); ++host) {
    HostGroup& here = ranks_on[host];
    if (here.size() <= costs.slots[host]) continue;
    base::sort_stably(here, [&](std::uint32_t one, std::uint32_t other) {
      return costs.graph.total(one) > costs.graph.total(other);
    });
    while (here.size() > costs.slots[host]) {
      const std::uint32_t rank = here.back();
      here.pop_back();
      double least = std::numeric_limits<double>::infinity();
      for (std::uint32_t to = 0; to < ranks_on.size(); ++to) {
        if (to == host || !has_room(to)) continue;
        double cost = 0;
        for (const RankGraph::Neighbour& edge : costs.graph.of(rank))
          cost += edge.bytes * costs.distances.between(to, places[edge.rank]);
        if (cost < least) least = cost, places[rank] = to;
      }
      ranks_on[places[rank]].push_back(rank);
    }
  }
}

// A graph whose mapping depends on nothing but a seed: Scotch would use threads otherwise, and the same
// call would give another mapping each time.
class SeededGraph {
 public:
  SeededGraph(SCOTCH_Graph* graph, SCOTCH_Num seed) {
    SCOTCH_contextOptionSetNum(context_.get(), SCOTCH_OPTIONNUMDETERMINISTIC, 1);
    SCOTCH_contextRandomSeed(context_.get(), 2 * seed);  // the lowest bit changes nothing
    SCOTCH_contextBindGraph(context_.get(), graph, bound_.get());
  }
  SCOTCH_Graph* get() { return bound_.get(); }

 private:
  Context context_;
  Graph bound_;
};

class ScotchMapping {
 public:
  explicit ScotchMapping(const PlaceCosts& costs) : costs_(costs), job_(costs) {}

  std::vector<Places> run() {
    if (!job_.is_built()) return {};
    for (const auto describe : {describe_hosts, describe_grid}) {
      Architecture network;
      if (!describe(costs_, network.get())) continue;
      for (SCOTCH_Num seed = 1; seed <= seeds(); ++seed) {
        // With some imbalance, with none, and for quality with balance.
        map_onto(network, SCOTCH_STRATDEFAULT, 0.05, seed);
        map_onto(network, SCOTCH_STRATDEFAULT, 0, seed);
        map_onto(network, SCOTCH_STRATQUALITY | SCOTCH_STRATBALANCE, 0.05, seed);
      }
    }
    return std::move(found_);
  }

 private:
  // The larger the network, the longer a mapping takes.
  SCOTCH_Num seeds() const {
    return static_cast<SCOTCH_Num>(std::clamp<std::size_t>(8192 / costs_.hosts.size(), 2, 8));
  }

  void map_onto(Architecture& network, SCOTCH_Num flags, double imbalance, SCOTCH_Num seed) {
    Strategy strategy;
    SeededGraph graph(job_.get(), seed);
    std::vector<SCOTCH_Num> host_of(costs_.graph.rank_count());
    if (SCOTCH_stratGraphMapBuild(strategy.get(), flags, SCOTCH_archSize(network.get()),
                                  imbalance) != 0 ||
        SCOTCH_graphMap(graph.get(), network.get(), strategy.get(), host_of.data()) != 0)
      return;
    Places places(host_of.begin(), host_of.end());
    fit_into_slots(costs_, places);
    found_.push_back(std::move(places));
  }

  const PlaceCosts& costs_;
  JobGraph job_;
  std::vector<Places> found_;
};

}  // namespace

bool has_scotch() { return true; }

std::vector<Places> scotch_mappings(const PlaceCosts& costs) {
  if (costs.hosts.size() < 2 || costs.hosts.size() > kMostScotchHosts) return {};
  if (costs.graph.rank_count() < 2) return {};
  const std::lock_guard lock(scotch_mutex);
  return ScotchMapping(costs).run();
}

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/recursive_bisection.h"

#include <metis.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/order/sort_stably.h"
#include "simulator/placement/distance/host_levels.h"
#include "simulator/placement/distance/two_way_cut.h"

namespace fathom::simulator {
namespace {

using RankList = std::vector<std::uint32_t>;

constexpr std::size_t kSampled = 16;   // hosts that stand for a region when distances are averaged
constexpr std::size_t kProposals = 2;  // cuts by METIS, of which the better is taken

// METIS calls rand(), whose state all threads share.
std::mutex metis_mutex;

struct Region {
  HostGroup hosts;
  RankList ranks;
};

class RecursiveBisection {
 public:
  RecursiveBisection(const PlaceCosts& costs, const BisectionStyle& style, std::uint64_t seed)
      : costs_(costs),
        style_(style),
        seed_(seed),
        coordinates_(grid_coordinates(costs)),
        local_(costs.graph.rank_count(), kNoId),
        region_of_(costs.graph.rank_count(), 0) {}

  Places run() {
    Region all;
    all.hosts.resize(costs_.slots.size());
    std::iota(all.hosts.begin(), all.hosts.end(), 0u);
    all.ranks.resize(costs_.graph.rank_count());
    std::iota(all.ranks.begin(), all.ranks.end(), 0u);
    regions_.push_back(std::move(all));
    for (bool split = true; split;) {
      split = false;
      const std::size_t count = regions_.size();
      for (std::uint32_t region = 0; region < count; ++region) {
        if (regions_[region].hosts.size() < 2 || regions_[region].ranks.empty()) continue;
        halve(region);
        split = true;
      }
    }
    Places places(costs_.graph.rank_count());
    for (const Region& region : regions_) {
      for (const std::uint32_t rank : region.ranks) places[rank] = region.hosts.front();
    }
    return places;
  }

 private:
  std::size_t slots(const HostGroup& hosts) const {
    std::size_t sum = 0;
    for (const std::uint32_t host : hosts) sum += costs_.slots[host];
    return sum;
  }

  // Keeps one half of the region, and appends the other.
  void halve(std::uint32_t region) {
    HostGroup near = std::move(regions_[region].hosts);
    const std::size_t cut = cut_of(near);
    HostGroup far(near.begin() + static_cast<std::ptrdiff_t>(cut), near.end());
    near.resize(cut);
    const RankList ranks = std::move(regions_[region].ranks);
    const std::size_t room = slots(near), other_room = slots(far);
    const double share = static_cast<double>(room) / static_cast<double>(room + other_room);
    const auto even =
        static_cast<std::size_t>(std::llround(share * static_cast<double>(ranks.size())));
    const std::size_t least = ranks.size() > other_room ? ranks.size() - other_room : 0;
    const std::size_t count = std::clamp(even, least, std::min(room, ranks.size()));
    const std::vector<char> side = sides_of(ranks, near, far, count);
    Region kept{std::move(near), {}}, split{std::move(far), {}};
    for (std::size_t at = 0; at < ranks.size(); ++at) {
      if (side[at] != 0) region_of_[ranks[at]] = static_cast<std::uint32_t>(regions_.size());
      (side[at] == 0 ? kept : split).ranks.push_back(ranks[at]);
    }
    regions_[region] = std::move(kept);
    regions_.push_back(std::move(split));
  }

  // Sorts the hosts from one end of the group to the other and returns where to cut.
  std::size_t cut_of(HostGroup& hosts) const {
    if (const std::size_t cut = cut_by_plane(hosts, coordinates_)) return cut;
    if (style_.by_number) return hosts.size() / 2;
    return widest_gap_of(hosts);
  }

  // Near the middle, at the largest distance between neighbours. The ends are two hosts far apart: the
  // farthest from the first, and the farthest from that.
  std::size_t widest_gap_of(HostGroup& hosts) const {
    const std::uint32_t one = farthest_from(hosts.front(), hosts);
    const std::uint32_t other = farthest_from(one, hosts);
    base::sort_stably(hosts, [&](std::uint32_t left, std::uint32_t right) {
      return nearness(left, one, other) < nearness(right, one, other);
    });
    const std::size_t middle = hosts.size() / 2, reach = hosts.size() / 4;
    std::size_t best = middle;
    for (std::size_t off = 0; off <= reach; ++off) {
      for (const std::size_t at : {middle - off, middle + off}) {
        if (at == 0 || at >= hosts.size()) continue;
        if (gap(hosts, at) > gap(hosts, best)) best = at;
      }
    }
    return best;
  }

  std::uint32_t farthest_from(std::uint32_t host, const HostGroup& hosts) const {
    const auto row = costs_.distances.from(host);
    return *std::max_element(
        hosts.begin(), hosts.end(),
        [&](std::uint32_t one, std::uint32_t other) { return row[one] < row[other]; });
  }
  int nearness(std::uint32_t host, std::uint32_t one, std::uint32_t other) const {
    return int{costs_.distances.between(one, host)} - int{costs_.distances.between(other, host)};
  }
  std::uint16_t gap(const HostGroup& hosts, std::size_t at) const {
    return costs_.distances.between(hosts[at - 1], hosts[at]);
  }

  // Mean over some hosts of both groups.
  double distance(const HostGroup& one, const HostGroup& other) const {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t a = 0; a < one.size(); a += 1 + (one.size() - 1) / kSampled) {
      for (std::size_t b = 0; b < other.size(); b += 1 + (other.size() - 1) / kSampled) {
        sum += costs_.distances.between(one[a], other[b]);
        ++count;
      }
    }
    return sum / static_cast<double>(count);
  }

  // The side of each rank, 0 (near) or 1; `count` ranks have 0.
  std::vector<char> sides_of(const RankList& ranks, const HostGroup& near, const HostGroup& far,
                             std::size_t count) {
    if (count == 0 || count == ranks.size()) return std::vector<char>(ranks.size(), count == 0);
    TwoWayCut cut(ranks.size());
    for (std::size_t at = 0; at < ranks.size(); ++at)
      local_[ranks[at]] = static_cast<std::uint32_t>(at);
    // What a cut pair costs more than one that is not cut.
    const double across =
        style_.cut_weight *
        std::max(0.5, distance(near, far) - (distance(near, near) + distance(far, far)) / 2);
    std::vector<double> pull(regions_.size(), kUnknown);
    for (const std::uint32_t rank : ranks) {
      for (const RankGraph::Neighbour& edge : costs_.graph.of(rank)) {
        if (local_[edge.rank] != kNoId) {
          if (rank < edge.rank) cut.add_pair(local_[rank], local_[edge.rank], across * edge.bytes);
          continue;
        }
        double& here = pull[region_of_[edge.rank]];
        if (here == kUnknown) {
          const HostGroup& there = regions_[region_of_[edge.rank]].hosts;
          here = distance(far, there) - distance(near, there);
        }
        cut.add_pull(local_[rank], here * edge.bytes);
      }
    }
    std::vector<char> best;
    double best_cost = 0;
    const auto consider = [&](std::vector<char> side) {
      const double cost = cut.improve(side, count);
      if (!best.empty() && cost >= best_cost) return;
      best_cost = cost;
      best = std::move(side);
    };
    for (std::size_t proposal = 0; proposal < kProposals; ++proposal) {
      std::vector<char> side = proposed(cut, count, seed_ * kProposals + proposal);
      std::vector<char> opposite = side;
      for (char& one : opposite) one = one == 0 ? 1 : 0;
      consider(std::move(side));
      if (!style_.terminals_in_proposal) consider(std::move(opposite));
    }
    consider(cut.by_pull(count));
    for (const std::uint32_t rank : ranks) local_[rank] = kNoId;
    return best;
  }

  // METIS knows no fixed vertices. Two more vertices, joined to the ranks that they draw, stand for
  // what lies outside; each weighs as much as all ranks, so that the balance keeps them apart. METIS
  // only approximates the sizes; TwoWayCut makes them exact.
  std::vector<char> proposed(const TwoWayCut& cut, std::size_t count, std::uint64_t seed) const {
    const auto items = static_cast<std::uint32_t>(cut.items());
    const auto pull_of = [&](std::uint32_t item) {
      return style_.terminals_in_proposal ? cut.pull_of(item) : 0;
    };
    double heaviest = 0;
    for (std::uint32_t item = 0; item < items; ++item) {
      heaviest = std::max(heaviest, std::abs(pull_of(item)));
      for (const TwoWayCut::Pair& pair : cut.pairs_of(item))
        heaviest = std::max(heaviest, pair.weight);
    }
    if (heaviest == 0) heaviest = 1;
    std::vector<idx_t> first = {0}, neighbours, weights, sizes(items, 1);
    const auto join = [&](std::uint32_t other, double weight) {
      neighbours.push_back(static_cast<idx_t>(other));
      weights.push_back(1 + static_cast<idx_t>(weight / heaviest * 10000));
    };
    for (std::uint32_t item = 0; item < items; ++item) {
      for (const TwoWayCut::Pair& pair : cut.pairs_of(item)) join(pair.other, pair.weight);
      if (const double pull = pull_of(item); pull != 0)
        join(pull > 0 ? items : items + 1, std::abs(pull));
      first.push_back(static_cast<idx_t>(neighbours.size()));
    }
    if (style_.terminals_in_proposal) {
      for (const bool near : {true, false}) {
        for (std::uint32_t item = 0; item < items; ++item) {
          const double pull = near ? pull_of(item) : -pull_of(item);
          if (pull > 0) join(item, pull);
        }
        first.push_back(static_cast<idx_t>(neighbours.size()));
        sizes.push_back(static_cast<idx_t>(items));
      }
    }
    auto vertices = static_cast<idx_t>(sizes.size());
    std::vector<idx_t> part(sizes.size(), 0);
    idx_t constraints = 1, parts = 2, edges_cut = 0;
    const std::size_t outside = style_.terminals_in_proposal ? items : 0;  // on each side
    const auto share = static_cast<real_t>(static_cast<double>(count + outside) /
                                           static_cast<double>(items + 2 * outside));
    real_t shares[2] = {share, 1 - share};
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = static_cast<idx_t>(seed & 0x7fffffff);
    options[METIS_OPTION_NCUTS] = 2;
    {
      const std::lock_guard lock(metis_mutex);
      METIS_PartGraphRecursive(&vertices, &constraints, first.data(), neighbours.data(),
                               sizes.data(), nullptr, weights.data(), &parts, shares, nullptr,
                               options, &edges_cut, part.data());
    }
    const idx_t near = style_.terminals_in_proposal ? part[items] : 0;
    std::vector<char> side(items);
    for (std::uint32_t item = 0; item < items; ++item) side[item] = part[item] != near;
    return side;
  }

  static constexpr double kUnknown = -1e300;

  const PlaceCosts& costs_;
  BisectionStyle style_;
  std::uint64_t seed_;
  HostCoordinates coordinates_;
  std::vector<std::uint32_t> local_;      // by rank: its index in the current group, or kNoId
  std::vector<std::uint32_t> region_of_;  // by rank
  std::vector<Region> regions_;
};

}  // namespace

bool has_bisection() { return true; }

base::Result<Places> bisected(const PlaceCosts& costs, const BisectionStyle& style,
                              std::uint64_t seed) {
  return RecursiveBisection(costs, style, seed).run();
}

base::Result<Placement> place_bisection(const PlacementRequest& request) {
  const PlaceCosts costs(request.network, request.job, request.hosts);
  return costs.hosts_of(*bisected(costs, {}, request.seed));
}

}  // namespace fathom::simulator

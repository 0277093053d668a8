// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/recursive_bisection.h"

#include <metis.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <mutex>
#include <numeric>

#include "simulator/jobs/rank_graph.h"
#include "simulator/network/host_distances.h"

namespace fathom::simulator {
namespace {

using RankList = std::vector<std::uint32_t>;
using Places = std::vector<std::size_t>;  // positions in PlacementRequest::hosts

// METIS calls rand(), whose state all threads share.
std::mutex metis_mutex;

class RecursiveBisection {
 public:
  explicit RecursiveBisection(const PlacementRequest& request)
      : request_(request),
        graph_(request.job),
        distances_(request.network, request.hosts),
        local_(graph_.rank_count(), -1),
        placement_(graph_.rank_count()) {}

  base::Result<Placement> run() {
    RankList ranks(graph_.rank_count());
    std::iota(ranks.begin(), ranks.end(), 0);
    Places places(request_.hosts.size());
    std::iota(places.begin(), places.end(), 0);
    place(std::move(ranks), std::move(places));
    return std::move(placement_);
  }

 private:
  std::size_t slots(const Places& places) const {
    std::size_t sum = 0;
    for (const std::size_t place : places) sum += request_.network.slots(request_.hosts[place]);
    return sum;
  }

  void place(RankList ranks, Places places) {
    if (ranks.empty()) return;
    if (places.size() == 1) {
      for (const std::uint32_t rank : ranks) placement_[rank] = request_.hosts[places.front()];
      return;
    }
    const std::size_t cut = cut_of(places);
    Places far(places.begin() + static_cast<std::ptrdiff_t>(cut), places.end());
    places.resize(cut);
    const double share =
        static_cast<double>(slots(places)) / static_cast<double>(slots(places) + slots(far));
    const auto even =
        static_cast<std::size_t>(std::llround(share * static_cast<double>(ranks.size())));
    const std::size_t least = ranks.size() > slots(far) ? ranks.size() - slots(far) : 0;
    RankList others = halve(ranks, std::clamp(even, least, std::min(slots(places), ranks.size())));
    place(std::move(ranks), std::move(places));
    place(std::move(others), std::move(far));
  }

  // Sorts the places from one end of the group to the other and returns where to cut: near the
  // middle, at the largest distance between neighbours.
  std::size_t cut_of(Places& places) const {
    std::size_t one = places.front(), other = places.back();
    for (const std::size_t a : places) {
      for (const std::size_t b : places) {
        if (a < b && distances_.between(a, b) > distances_.between(one, other)) one = a, other = b;
      }
    }
    std::stable_sort(places.begin(), places.end(), [&](std::size_t left, std::size_t right) {
      return nearness(left, one, other) < nearness(right, one, other);
    });
    const std::size_t middle = places.size() / 2, reach = places.size() / 4;
    std::size_t best = middle;
    for (std::size_t off = 0; off <= reach; ++off) {
      for (const std::size_t at : {middle - off, middle + off}) {
        if (at == 0 || at >= places.size()) continue;
        if (gap(places, at) > gap(places, best)) best = at;
      }
    }
    return best;
  }

  std::int64_t nearness(std::size_t place, std::size_t one, std::size_t other) const {
    return std::int64_t{distances_.between(one, place)} -
           std::int64_t{distances_.between(other, place)};
  }
  std::uint32_t gap(const Places& places, std::size_t at) const {
    return distances_.between(places[at - 1], places[at]);
  }

  // Keeps `count` of the ranks in `ranks` and returns the others.
  RankList halve(RankList& ranks, std::size_t count) {
    std::vector<idx_t> part(ranks.size(), 0);
    if (count > 0 && count < ranks.size()) partition(ranks, count, part);
    repair(ranks, count, part);
    RankList kept, others;
    for (std::size_t at = 0; at < ranks.size(); ++at)
      (part[at] == 0 ? kept : others).push_back(ranks[at]);
    ranks = std::move(kept);
    return others;
  }

  void partition(const RankList& ranks, std::size_t count, std::vector<idx_t>& part) {
    std::vector<idx_t> first = {0}, neighbours, weights;
    double heaviest = 0;
    for (std::size_t at = 0; at < ranks.size(); ++at)
      local_[ranks[at]] = static_cast<std::int64_t>(at);
    for (const std::uint32_t rank : ranks) {
      for (const RankGraph::Neighbour& edge : graph_.of(rank))
        heaviest = std::max(heaviest, edge.bytes);
    }
    for (const std::uint32_t rank : ranks) {
      for (const RankGraph::Neighbour& edge : graph_.of(rank)) {
        if (local_[edge.rank] < 0) continue;
        neighbours.push_back(static_cast<idx_t>(local_[edge.rank]));
        weights.push_back(1 + static_cast<idx_t>(edge.bytes / std::max(heaviest, 1.0) * 10000));
      }
      first.push_back(static_cast<idx_t>(neighbours.size()));
    }
    for (const std::uint32_t rank : ranks) local_[rank] = -1;
    auto vertices = static_cast<idx_t>(ranks.size());
    idx_t constraints = 1, parts = 2, cut = 0;
    const auto share =
        static_cast<real_t>(static_cast<double>(count) / static_cast<double>(ranks.size()));
    real_t shares[2] = {share, 1 - share};
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = static_cast<idx_t>(request_.seed & 0x7fffffff);
    options[METIS_OPTION_NCUTS] = 4;
    const std::lock_guard lock(metis_mutex);
    // METIS only approximates the sizes; repair() fixes them.
    METIS_PartGraphRecursive(&vertices, &constraints, first.data(), neighbours.data(), nullptr,
                             nullptr, weights.data(), &parts, shares, nullptr, options, &cut,
                             part.data());
  }

  // Moves the ranks that lose least until part 0 has exactly `count`.
  void repair(const RankList& ranks, std::size_t count, std::vector<idx_t>& part) {
    auto zeros = static_cast<std::size_t>(std::count(part.begin(), part.end(), 0));
    for (std::size_t at = 0; at < ranks.size(); ++at)
      local_[ranks[at]] = static_cast<std::int64_t>(at);
    while (zeros != count) {
      const idx_t from = zeros > count ? 0 : 1;
      std::size_t best = ranks.size();
      double best_gain = -std::numeric_limits<double>::infinity();
      for (std::size_t at = 0; at < ranks.size(); ++at) {
        if (part[at] != from) continue;
        double gain = 0;
        for (const RankGraph::Neighbour& edge : graph_.of(ranks[at])) {
          if (local_[edge.rank] < 0) continue;
          gain +=
              part[static_cast<std::size_t>(local_[edge.rank])] == from ? -edge.bytes : edge.bytes;
        }
        if (gain > best_gain) best = at, best_gain = gain;
      }
      part[best] = 1 - from;
      from == 0 ? --zeros : ++zeros;
    }
    for (const std::uint32_t rank : ranks) local_[rank] = -1;
  }

  const PlacementRequest& request_;
  RankGraph graph_;
  HostDistances distances_;
  std::vector<std::int64_t> local_;  // by rank: its index in the current group, or -1
  Placement placement_;
};

}  // namespace

bool has_bisection() { return true; }

base::Result<Placement> place_bisection(const PlacementRequest& request) {
  return RecursiveBisection(request).run();
}

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/random.h"
#include "simulator/placement/placed_routes.h"
#include "simulator/placement/recursive_bisection.h"
#include "simulator/placement/registry.h"
#include "simulator/placement/simple_placements.h"
#include "simulator/placement/treematch.h"
#include "simulator/routing/registry.h"

namespace fathom::simulator {
namespace {

constexpr std::size_t kPartnersTried = 8, kDrawn = 4;

// Paths between all of the request's hosts, indexed by position.
base::Result<PlacedRoutes> ways_between(const PlacementRequest& request, const RouterRow& router,
                                        const std::vector<std::uint32_t>& place) {
  Job hosts{"hosts", static_cast<std::int64_t>(request.hosts.size()), {}};
  for (const profile::PairCount& pair : request.job.pairs) {
    hosts.pairs.push_back({place[static_cast<std::size_t>(pair.source)],
                           place[static_cast<std::size_t>(pair.destination)], pair.bytes,
                           pair.messages});
  }
  return PlacedRoutes::make(request.network, hosts,
                            Placement(request.hosts.begin(), request.hosts.end()), router,
                            request.seed, LinkUse(request.network));
}

class PlacementSearch {
 public:
  PlacementSearch(const PlacementRequest& request, const PlacedRoutes& ways, Objective objective,
                  std::vector<std::uint32_t> place)
      : request_(request),
        ways_(ways),
        objective_(objective),
        place_(std::move(place)),
        load_(request.network.link_count(), 0),
        messages_(place_.size()),
        free_(request.hosts.size()),
        on_(request.hosts.size()),
        random_(request.seed) {
    for (const profile::PairCount& pair : request.job.pairs) {
      if (pair.source == pair.destination) continue;
      const auto from = static_cast<std::uint32_t>(pair.source),
                 to = static_cast<std::uint32_t>(pair.destination);
      const auto bytes = static_cast<double>(pair.bytes);
      messages_[from].push_back({to, bytes, true});
      messages_[to].push_back({from, bytes, false});
      scale_ = std::max(scale_, bytes);
      for (const LinkId link : ways_.between(place_[from], place_[to])) load_[link] += bytes;
    }
    for (auto& list : messages_) {
      std::stable_sort(list.begin(), list.end(), [](const Message& one, const Message& other) {
        return one.bytes > other.bytes;
      });
    }
    for (LinkId link = 0; link < load_.size(); ++link) {
      highest_ = std::max(highest_, load_[link] / request.network.link(link).capacity_Bps);
    }
    for (std::size_t host = 0; host < free_.size(); ++host)
      free_[host] = request.network.slots(request.hosts[host]);
    for (std::uint32_t rank = 0; rank < place_.size(); ++rank) {
      --free_[place_[rank]];
      on_[place_[rank]].push_back(rank);
    }
  }

  // Repeats passes over all ranks until one yields no improvement.
  std::vector<std::uint32_t> run(std::uint64_t moves) {
    left_ = moves;
    for (bool better = true; better && left_ > 0;) {
      better = false;
      for (std::uint32_t rank = 0; rank < place_.size(); ++rank) better = improve(rank) || better;
    }
    return place_;
  }

 private:
  struct Message {
    std::uint32_t other;
    double bytes;
    bool sent;
  };

  bool improve(std::uint32_t rank) {
    bool better = false;
    const std::size_t partners = std::min(kPartnersTried, messages_[rank].size());
    for (std::size_t at = 0; at < partners; ++at) {
      better = try_host(rank, place_[messages_[rank][at].other]) || better;
    }
    for (std::size_t drawn = 0; drawn < kDrawn; ++drawn) {
      better = try_host(rank, static_cast<std::uint32_t>(random_.below(free_.size()))) || better;
    }
    return better;
  }

  bool try_host(std::uint32_t rank, std::uint32_t host) {
    if (host == place_[rank]) return false;
    if (free_[host] > 0 && try_move(rank, host)) return true;
    const std::vector<std::uint32_t> there = on_[host];
    for (const std::uint32_t other : there) {
      if (try_swap(rank, other)) return true;
    }
    return false;
  }

  bool try_move(std::uint32_t rank, std::uint32_t host) {
    if (left_ == 0) return false;
    --left_;
    const std::uint32_t home = place_[rank];
    change_ = 0;
    put(rank, host);
    if (change_ < -kWorth * scale()) {
      ++free_[home];
      --free_[host];
      std::erase(on_[home], rank);
      on_[host].push_back(rank);
      return true;
    }
    put(rank, home);
    return false;
  }

  bool try_swap(std::uint32_t one, std::uint32_t other) {
    if (left_ == 0 || (messages_[one].empty() && messages_[other].empty())) return false;
    --left_;
    const std::uint32_t here = place_[one], there = place_[other];
    change_ = 0;
    put(one, there);
    put(other, here);
    if (change_ < -kWorth * scale()) {
      std::replace(on_[here].begin(), on_[here].end(), one, other);
      std::replace(on_[there].begin(), on_[there].end(), other, one);
      return true;
    }
    put(other, there);
    put(one, here);
    return false;
  }

  // Moves the rank there and adds the change of the sum to change_.
  void put(std::uint32_t rank, std::uint32_t host) {
    for (const Message& message : messages_[rank]) carry(rank, message, -message.bytes);
    place_[rank] = host;
    for (const Message& message : messages_[rank]) carry(rank, message, message.bytes);
  }

  void carry(std::uint32_t rank, const Message& message, double bytes) {
    const std::uint32_t from = message.sent ? rank : message.other,
                        to = message.sent ? message.other : rank;
    for (const LinkId link : ways_.between(place_[from], place_[to])) {
      change_ -= cost(link);
      load_[link] += bytes;
      change_ += cost(link);
    }
  }

  // Relative to the highest initial load, so that powers stay in range.
  double cost(LinkId link) const {
    if (objective_ == Objective::kHopBytes) return load_[link];
    const Link& what = request_.network.link(link);
    if (objective_ == Objective::kHostBytes)
      return request_.network.is_host(what.source) ? load_[link] : 0;
    const double part = load_[link] / what.capacity_Bps / highest_;
    const double square = part * part, fourth = square * square;
    return fourth * fourth;
  }

  // Scale for "no improvement": sums of bytes are exact, powers are rounded.
  double scale() const {
    return objective_ == Objective::kHopBytes || objective_ == Objective::kHostBytes ? scale_ : 1;
  }

  static constexpr double kWorth = 1e-9;

  const PlacementRequest& request_;
  const PlacedRoutes& ways_;
  Objective objective_;
  std::vector<std::uint32_t> place_;            // by rank: index of its host
  std::vector<double> load_;                    // by link
  std::vector<std::vector<Message>> messages_;  // by rank, heaviest first
  std::vector<std::uint32_t> free_;             // free slots, by index of host
  std::vector<std::vector<std::uint32_t>> on_;  // ranks, by index of host
  base::Random random_;
  double highest_ = 0, scale_ = 1, change_ = 0;
  std::uint64_t left_ = 0;
};

}  // namespace

base::Result<Placement> improve_placement(const PlacementRequest& request, const RouterRow& router,
                                          Objective objective, Placement placement,
                                          const SearchEffort& effort) {
  // Index in request.hosts: PlacedRoutes numbers hosts by their order in the placement it is given,
  // and ways_between() gives it one that names each host once, in this order.
  std::vector<std::uint32_t> place;
  for (const HostId host : placement) {
    const auto found = std::find(request.hosts.begin(), request.hosts.end(), host);
    if (found == request.hosts.end())
      return base::Error{"the placement to improve uses a host that is not to be used"};
    place.push_back(static_cast<std::uint32_t>(found - request.hosts.begin()));
  }
  const auto ways = ways_between(request, router, place);
  if (!ways) return ways.error();
  const std::vector<std::uint32_t> better =
      PlacementSearch(request, *ways, objective, std::move(place)).run(effort.moves);
  for (std::size_t rank = 0; rank < placement.size(); ++rank)
    placement[rank] = request.hosts[better[rank]];
  return placement;
}

base::Result<Placement> place_search(const PlacementRequest& request) {
  const RouterRow& shortest = **find_router("minimal");
  base::Result<Placement> best = base::Error{"no placement"};
  double best_score = 0;
  for (const auto place : {place_block, place_bisection, place_treematch}) {
    if (place == place_bisection && !has_bisection()) continue;
    auto placement = place(request);
    if (!placement) return placement;
    const auto scores =
        evaluate(request.network, request.job, *placement, shortest, request.seed, false);
    if (!scores) return scores.error();
    const double score = (*scores)[Objective::kHopBytes];
    if (best && score >= best_score) continue;
    best_score = score;
    best = std::move(placement);
  }
  return improve_placement(request, shortest, Objective::kHopBytes, std::move(*best));
}

}  // namespace fathom::simulator

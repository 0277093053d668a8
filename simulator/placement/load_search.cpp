// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/load_search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/random.h"
#include "simulator/placement/path_cache.h"

namespace fathom::simulator {
namespace {

constexpr std::size_t kPartnersTried = 8, kBeside = 2, kDrawn = 4;  // per rank and pass
constexpr std::size_t kTriedNear = 8;  // hosts beside a host, of which some are tried
constexpr std::uint64_t kFewestMoves = 200'000;
constexpr std::uint64_t kMovesEach = 20;  // moves of annealing that take as long as one here

class LoadSearch {
 public:
  LoadSearch(const PlacementRequest& request, const PlaceCosts& costs, PathCache& paths,
             Objective objective, Places places)
      : request_(request),
        costs_(costs),
        paths_(paths),
        objective_(objective),
        place_(std::move(places)),
        load_(request.network.link_count(), 0),
        messages_(place_.size()),
        free_(costs.slots),
        on_(costs.slots.size()),
        near_(costs.slots.size()),
        random_(request.seed) {
    for (const profile::PairCount& pair : request.job.pairs) {
      if (pair.source == pair.destination) continue;
      const auto from = static_cast<std::uint32_t>(pair.source),
                 to = static_cast<std::uint32_t>(pair.destination);
      const auto bytes = static_cast<double>(pair.bytes);
      messages_[from].push_back({to, bytes, true});
      messages_[to].push_back({from, bytes, false});
      scale_ = std::max(scale_, bytes);
      for (const LinkId link : paths_.path({place_[from], place_[to]})) load_[link] += bytes;
    }
    for (auto& list : messages_) {
      std::stable_sort(list.begin(), list.end(), [](const Message& one, const Message& other) {
        return one.bytes > other.bytes;
      });
    }
    for (LinkId link = 0; link < load_.size(); ++link) {
      highest_ = std::max(highest_, load_[link] / request.network.link(link).capacity_Bps);
    }
    for (std::uint32_t rank = 0; rank < place_.size(); ++rank) {
      --free_[place_[rank]];
      on_[place_[rank]].push_back(rank);
    }
  }

  // Repeats passes over all ranks until one yields no improvement.
  base::Result<Places> run(std::uint64_t moves, const SearchProgress& progress) {
    left_ = moves;
    for (bool better = true; better && left_ > 0;) {
      better = false;
      for (std::uint32_t rank = 0; rank < place_.size() && left_ > 0; ++rank) {
        better = improve(rank) || better;
        if (failed_) return *failed_;
        if (progress && rank % 64 == 0)
          progress("moving ranks", 1 - static_cast<double>(left_) / static_cast<double>(moves));
      }
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
      const std::uint32_t host = place_[messages_[rank][at].other];
      better = try_host(rank, host) || better;
      for (std::size_t beside = 0; beside < kBeside; ++beside)
        better = try_host(rank, drawn_beside(host)) || better;
    }
    for (std::size_t drawn = 0; drawn < kDrawn; ++drawn) {
      better = try_host(rank, static_cast<std::uint32_t>(random_.below(free_.size()))) || better;
    }
    return better;
  }

  std::uint32_t drawn_beside(std::uint32_t host) {
    std::vector<std::uint32_t>& near = near_[host];
    if (near.empty()) near = nearest_hosts(costs_.distances, host, kTriedNear, random_);
    return near[random_.below(near.size())];
  }

  bool try_host(std::uint32_t rank, std::uint32_t host) {
    if (host == place_[rank] || failed_) return false;
    if (free_[host] > 0 && try_move(rank, host)) return true;
    const std::vector<std::uint32_t> there = on_[host];
    for (const std::uint32_t other : there) {
      if (try_swap(rank, other)) return true;
    }
    return false;
  }

  // Routes what the rank's messages need if it is on this host, and its partner of a swap on another.
  // False if that failed.
  bool has_paths(std::uint32_t rank, std::uint32_t host, std::uint32_t partner,
                 std::uint32_t host_of_partner) {
    missing_.clear();
    want(rank, host, partner, host_of_partner);
    if (partner != rank) want(partner, host_of_partner, rank, host);
    if (missing_.empty()) return true;
    std::sort(missing_.begin(), missing_.end());
    missing_.erase(std::unique(missing_.begin(), missing_.end()), missing_.end());
    if (auto added = paths_.add(missing_); !added) failed_ = added.error();
    return !failed_;
  }

  // Also the paths half way through a swap, when only the first of the two has moved.
  void want(std::uint32_t rank, std::uint32_t host, std::uint32_t partner,
            std::uint32_t host_of_partner) {
    for (const Message& message : messages_[rank]) {
      want_path(host, place_[message.other], message.sent);
      if (message.other == partner) want_path(host, host_of_partner, message.sent);
    }
  }
  void want_path(std::uint32_t host, std::uint32_t other, bool sent) {
    const PathCache::HostPair pair = sent ? std::pair(host, other) : std::pair(other, host);
    if (!paths_.has(pair)) missing_.push_back(pair);
  }

  bool try_move(std::uint32_t rank, std::uint32_t host) {
    if (left_ == 0 || !has_paths(rank, host, rank, host)) return false;
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
    const std::uint32_t here = place_[one], there = place_[other];
    if (!has_paths(one, there, other, here)) return false;
    --left_;
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
    for (const LinkId link : paths_.path({place_[from], place_[to]})) {
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
  const PlaceCosts& costs_;
  PathCache& paths_;
  Objective objective_;
  Places place_;
  std::vector<double> load_;                      // by link
  std::vector<std::vector<Message>> messages_;    // by rank, heaviest first
  std::vector<std::uint32_t> free_;               // free slots, by index of host
  std::vector<std::vector<std::uint32_t>> on_;    // ranks, by index of host
  std::vector<std::vector<std::uint32_t>> near_;  // by index of host; empty: not looked up yet
  std::vector<PathCache::HostPair> missing_;
  std::optional<base::Error> failed_;
  base::Random random_;
  double highest_ = 0, scale_ = 1, change_ = 0;
  std::uint64_t left_ = 0;
};

}  // namespace

base::Result<Places> improve_loads(const PlacementRequest& request, const PlaceCosts& costs,
                                   const RouterRow& router, Objective objective, Places places,
                                   const SearchEffort& effort) {
  auto paths = PathCache::make(request, router, places);
  if (!paths) return paths.error();
  const std::uint64_t moves = effort.moves_of(request.job) / kMovesEach;
  return LoadSearch(request, costs, *paths, objective, std::move(places))
      .run(effort.moves > 0 ? std::max<std::uint64_t>(moves, 1) : std::max(moves, kFewestMoves),
           effort.progress);
}

}  // namespace fathom::simulator

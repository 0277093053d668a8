// SPDX-License-Identifier: BSD-3-Clause
// Paths between the hosts of a job, routed when they are first needed: a search for a placement
// needs those between hosts that exchange much, and few of all others.
//
// What the job sends at first is routed as a whole. Later paths are routed beside that load, which
// routers that avoid loaded links see. Memory: 4 bytes per pair of hosts, and the paths.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "simulator/placement/distance/place_costs.h"
#include "simulator/placement/placement.h"
#include "simulator/routing/routing.h"

namespace fathom::simulator {

class PathCache {
 public:
  using HostPair = std::pair<std::uint32_t, std::uint32_t>;  // indices in request.hosts

  // `request`, `row` and what they refer to must outlive this object. The Errors are those of
  // whole_routes(), for this and for add().
  static base::Result<PathCache> make(const PlacementRequest& request, const RouterRow& row,
                                      const Places& places);

  bool has(HostPair pair) const { return first_[index(pair)] != kUnknown; }
  // Routes these pairs, none of which is known.
  base::Status add(std::span<const HostPair> pairs);
  // Links of a path that is known; valid until the next add().
  std::span<const LinkId> path(HostPair pair) const {
    const std::uint32_t* const entry = links_.data() + first_[index(pair)];
    return {entry + 1, *entry};
  }

 private:
  static constexpr std::uint32_t kUnknown = 0;

  PathCache(const PlacementRequest& request, const RouterRow& row, std::unique_ptr<Router> router);
  std::size_t index(HostPair pair) const {
    return pair.first * request_->hosts.size() + pair.second;
  }
  base::Status route(std::span<const HostPair> pairs, std::span<const Demand> demands,
                     const LinkUse& background);

  const PlacementRequest* request_;
  const RouterRow* row_;
  std::unique_ptr<Router> router_;
  LinkUse background_;
  std::vector<std::uint32_t> first_;  // by pair of hosts: position in links_, or kUnknown
  std::vector<std::uint32_t> links_;  // for each path: number of links, then the links
};

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
// The routes of a SimGrid platform: zones inside zones, each with routes of its own.
//
// A point is a host, a router or a zone. Each zone knows the routes between the points directly in
// it (LocalRoutes). The route from a to b is found from the zone that holds both: its route between
// the two of its zones that a and b are in, from gateway g to gateway h, and before and after it the
// routes from a to g and from h to b, found in the same manner. A bypass of that zone comes first.
//
// Source: NetZoneImpl::get_global_route(), get_bypass_route(), FloydZone, DijkstraZone of SimGrid
// 3.32, whose choices among equally long routes are made here too. Nothing recurses, so zones may
// be nested to any depth.
//
// Threading: one thread until finish(); from then on, any number of threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/formats/media_graph.h"
#include "simulator/network/given_routes.h"

namespace fathom::simulator {

class SimgridZones : public GivenRoutes {
 public:
  using Point = std::uint32_t;
  using Zone = std::uint32_t;
  using Way = MediaGraph::Way;

  // A part of a route: a way, or whatever leads from one point to another.
  struct Part {
    Way way = kNoId;  // kNoId: from `source` to `target`
    Point source = kNoId, target = kNoId;
  };
  struct Route {
    std::vector<Part> parts;
    Point first_gateway = kNoId, last_gateway = kNoId;  // of a route between zones
  };

  // The routes between the points in one zone.
  class LocalRoutes {
   public:
    virtual ~LocalRoutes() = default;
    // A way over `links` media of the platform. Explicit routes replace those that are only the
    // reverse of others.
    virtual void add(Point, Point, Way, std::size_t /*links*/, Point /*first_gateway*/,
                     Point /*last_gateway*/, bool /*is_explicit*/) {}
    virtual void finish() {}
    virtual bool find(Point source, Point target, Route& route) const = 0;
  };

  Zone add_zone(Zone parent, std::unique_ptr<LocalRoutes> routes);  // kNoId: the outermost
  Point add_point(Zone zone);
  void set_routes(Zone zone, std::unique_ptr<LocalRoutes> routes) {
    zones_[zone].routes = std::move(routes);
  }
  Point point_of(Zone zone) const { return zones_[zone].point; }
  Zone zone_of(Point point) const { return points_[point]; }
  Zone zone_with(Point point) const { return zone_numbers_.at(point); }  // whose point it is
  LocalRoutes& routes_in(Zone zone) { return *zones_[zone].routes; }
  bool holds(Zone zone, Point point) const;  // at any depth

  void add_bypass(Zone zone, Point source, Point target, Way way, Point first_gateway,
                  Point last_gateway);

  // Hosts in the order of the network; `out` and `in` as in MediaGraph::Host.
  void add_host(Point point, const MediaGraph::Host& host) { hosts_.push_back({point, host}); }

  // Takes the network's links from the graph, which must have been built.
  void finish(MediaGraph& graph);

  bool append(HostId source, HostId destination, std::vector<LinkId>& links) const override;

 private:
  struct ZoneEntry {
    Zone parent;
    Point point;
    std::uint32_t depth;
    std::unique_ptr<LocalRoutes> routes;
    std::map<std::pair<Point, Point>, Route> bypasses;
  };
  struct HostEntry {
    Point point;
    MediaGraph::Host host;
  };

  bool find(Point source, Point target, Route& route) const;
  const Route* find_bypass(const ZoneEntry& common, Zone source, Zone target) const;
  void append_way(Way way, std::vector<LinkId>& links) const;

  std::vector<ZoneEntry> zones_;
  std::vector<Zone> points_;                      // by point: the zone that it is in
  std::unordered_map<Point, Zone> zone_numbers_;  // by the zone's own point
  std::vector<HostEntry> hosts_;
  std::vector<std::size_t> first_link_;  // by way, plus one final entry
  std::vector<LinkId> links_;
};

// Full and None: the routes that are written down.
std::unique_ptr<SimgridZones::LocalRoutes> table_routes();

// Floyd and Dijkstra: of the routes that are written down, the succession with the fewest links.
// Floyd's choices cost the cube of the number of points; beyond 2,000 points, Dijkstra's are made.
enum class GraphSearch { kFloyd, kDijkstra };
std::unique_ptr<SimgridZones::LocalRoutes> graph_routes(GraphSearch search);

}  // namespace fathom::simulator

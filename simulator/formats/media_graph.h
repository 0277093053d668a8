// SPDX-License-Identifier: BSD-3-Clause
// A network given by media and ways over them, as SimGrid describes platforms, made into nodes and
// links.
//
// A medium is a resource that all flows over it share, whatever way they go: a directed link
// between two ends that have no name. A way from node a over media m1 … mk to node b adds the
// connectors
//
//     a → begin(m1),   end(m1) → begin(m2),   …,   end(mk) → b
//
// so that what shares capacity in the platform shares a link in the network, and only successions
// of media that some way has can be travelled. A connector carries no more than the media at its
// ends, and has the smaller of their capacities; it binds nothing. Connectors that are the only way
// out of where they begin, or into where they end, are contracted: a cable of two media between two
// nodes becomes two links. Hosts pass nothing on; what does, and is a host too, gets a switch
// beside it (add_host(), `forwards`).
//
// A medium that is not shared (SimGrid's FATPIPE) is a node, and gives its capacity to each medium
// that leads into it; that it bounds each single flow, too, is not kept.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "simulator/network/network.h"

namespace fathom::simulator {

class MediaGraph {
 public:
  using Node = std::uint32_t;
  using Medium = std::uint32_t;

  // `forwards`: others' traffic passes this host. The number is that of the switch then.
  Node add_host(const std::string& name, std::uint32_t slots, bool forwards);
  Node add_switch(std::string name);
  Medium add_medium(const std::string& name, double capacity_Bps, double latency_s, bool is_shared);

  // One direction. Without media the way carries whatever arrives.
  void add_way(Node from, std::span<const Medium> media, Node to);
  void add_link(Node from, Node to, double capacity_Bps, double latency_s);

  // The switches are the points of this grid, in their order of being added. Kept only if there are
  // no others.
  void set_grid(Grid grid) { grid_ = std::move(grid); }

  // build() refuses the network if there is a way from `from` to `to` with fewer links than this
  // one.
  void must_be_shortest(Node from, std::vector<Medium> media, Node to);

  // The Error names the node, link or way.
  base::Result<Network> build(const std::string& name);

 private:
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  enum class Kind : std::uint8_t { kMediumEnd, kSwitch, kHost };
  enum class EdgeKind : std::uint8_t {
    kLink,
    kConnector,
    kEntry
  };  // entry: into an unshared medium
  struct Point {
    std::string name;
    Kind kind;
    std::uint32_t slots;
    Node parent;  // of the union; itself if it is the root
  };
  struct Edge {
    Node from, to;
    double capacity_Bps, latency_s;
    EdgeKind kind;
  };
  struct Ends {
    Node begin, end;
    double capacity_Bps, latency_s;
  };
  struct Way {
    Node from;
    std::vector<Medium> media;
    Node to;
  };

  Node add_point(std::string name, Kind kind, std::uint32_t slots);
  Node root(Node node);
  void connect(Node from, Node to, double capacity_Bps, double latency_s, EdgeKind kind);
  void unite_parallel(bool adds_up);
  bool contract();
  void merge(Node one, Node other);
  void limit_unlimited();
  base::Result<Network> to_network(const std::string& name);
  std::uint32_t length_of(const Way& way);
  base::Status check_ways(const Network& network);

  std::vector<Point> points_;
  std::vector<Edge> edges_;
  std::vector<Ends> media_;
  std::vector<Way> ways_;
  std::vector<NodeId> numbers_;  // in the network, by root
  std::optional<Grid> grid_;
};

}  // namespace fathom::simulator

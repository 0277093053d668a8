// SPDX-License-Identifier: BSD-3-Clause
// A network given by media and the ways over them, as SimGrid describes platforms, turned into
// nodes and links.
//
// A medium is a resource shared by all flows over it, whatever their route: a directed link between
// two unnamed ends. A way from node a over media m1 … mk to node b adds the connectors
//
//     a → begin(m1),   end(m1) → begin(m2),   …,   end(mk) → b
//
// so that whatever shares capacity in the platform shares a link in the network, and only
// successions of media that occur in some way can be used. A connector has the smaller capacity of
// the media at its ends, so it never limits a flow. A connector that is the only edge out of its
// beginning or into its end is contracted: a cable of two media between two nodes becomes two
// links. Hosts do not forward; a host that must forward gets a switch beside it (add_host(),
// `forwards`).
//
// A medium that is not shared (SimGrid's FATPIPE) becomes a node and passes its capacity to each
// medium that leads into it. Its limit on each single flow is not modelled.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "simulator/network/network.h"

namespace fathom::simulator {

class MediaGraph {
 public:
  using Node = std::uint32_t;
  using Medium = std::uint32_t;
  using Way = std::uint32_t;

  // Where a host's ways begin and end, and the ways between there and the host if these are not the
  // same.
  struct Host {
    Node node = 0;
    std::optional<Way> out, in;
  };

  // `forwards`: others' traffic passes through this host. Its ways then begin and end at a switch.
  Host add_host(const std::string& name, std::uint32_t slots, bool forwards);
  Node add_switch(std::string name);
  Medium add_medium(const std::string& name, double capacity_Bps, double latency_s, bool is_shared);

  // One direction only. A way without media carries whatever arrives.
  Way add_way(Node from, std::span<const Medium> media, Node to);
  Way add_link(Node from, Node to, double capacity_Bps, double latency_s);

  // The switches are the points of this grid, in the order they were added. Kept only if there are
  // no other switches.
  void set_grid(Grid grid) { grid_ = std::move(grid); }

  // The Error names the node or link.
  base::Result<Network> build(const std::string& name);

  Way way_count() const { return static_cast<Way>(ways_.size()); }
  // The links of the network that build() made on this way.
  std::vector<LinkId> links_of(Way way);

 private:
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  enum class Kind : std::uint8_t { kMediumEnd, kSwitch, kHost };
  enum class EdgeKind : std::uint8_t {
    kLink,
    kConnector,
    kEntry
  };  // entry: into an unshared medium
  // What links and entries are known by when their ends have changed: a link's own number, an
  // entry's medium.
  using Tag = std::uint32_t;
  struct Point {
    std::string name;
    Kind kind;
    std::uint32_t slots;
    Node parent;  // in the union-find forest; itself for a root
  };
  struct Edge {
    Node from, to;
    double capacity_Bps, latency_s;
    EdgeKind kind;
    Tag tag;
  };
  struct Ends {
    Node begin, end;
    double capacity_Bps, latency_s;
    Tag link;
  };
  struct Course {
    Node from;
    std::vector<Medium> media;
    Node to;
    Tag link = kNoId;  // of a way that is one link
  };
  using Step = std::tuple<Node, Node, EdgeKind, Tag>;  // between roots

  Node add_point(std::string name, Kind kind, std::uint32_t slots);
  Node root(Node node);
  void connect(Node from, Node to, double capacity_Bps, double latency_s, EdgeKind kind, Tag tag);
  Tag connect_link(Node from, Node to, double capacity_Bps, double latency_s);
  void unite_parallel(bool adds_up);
  bool contract();
  void merge(Node one, Node other);
  void limit_unlimited();
  base::Result<Network> to_network(const std::string& name);
  void append_step(Node from, Node to, EdgeKind kind, Tag tag, std::vector<LinkId>& links);

  std::vector<Point> points_;
  std::vector<Edge> edges_;
  std::vector<Ends> media_;
  std::vector<Course> ways_;
  Tag links_ = 0;  // how many
  // Links of the network: one, or two where a medium ends at the node at which it begins.
  std::map<Step, std::pair<LinkId, std::uint32_t>> steps_;
  std::vector<std::pair<LinkId, std::uint32_t>> links_by_tag_;
  std::optional<Grid> grid_;
};

}  // namespace fathom::simulator

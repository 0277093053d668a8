// SPDX-License-Identifier: BSD-3-Clause
// A cluster's network: hosts, switches and the directed links between them.
//
// Nodes are numbered 0..node_count()-1: first all hosts, then all switches, each in the order they
// were added, so a HostId is also its NodeId. Links are numbered in the order they were added; a
// cable is two links, one per direction. Several links may join the same two nodes.
//
// A network is immutable but for give_routes(): any number of threads may read it. Memory is about
// 40 bytes per link, and per node 30 bytes plus its name. A node's links are found without
// searching. Hosts do not forward, unless the network has no switch at all (hosts linked to each
// other).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fathom::simulator {

using NodeId = std::uint32_t;
using HostId = std::uint32_t;  // a NodeId below host_count()
using LinkId = std::uint32_t;

inline constexpr std::uint32_t kNoId = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::int32_t kNoPort = -1;
inline constexpr std::int64_t kNoDatapath = -1;

// The largest network that is made: more is a typing error, or needs another simulator. At these
// limits a network takes about 2 GB while it is built.
inline constexpr std::uint32_t kMostNodes = 1 << 21;
inline constexpr std::uint32_t kMostLinks = 1 << 24;

struct Link {
  NodeId source = kNoId;
  NodeId target = kNoId;
  double capacity_Bps = 0;  // positive; the reference simulator's files give it without a unit
  double latency_s = 0;
  std::int32_t port = kNoPort;  // the source's port, if known
};

// Switches on the points of a grid: what dimension order routing needs to know about a torus, a
// mesh or a HyperX. The switch at coordinates c has number sum_d stride_d c_d among the grid's
// switches; switches inside machines come before these.
struct Grid {
  enum class Kind {
    kMesh,
    kTorus,
    kHyperX
  };  // HyperX: all switches of a row are linked to each other
  Kind kind = Kind::kMesh;
  std::vector<std::uint32_t> extent;  // by dimension; the product is the number of switches
  std::vector<std::uint32_t> stride;  // by dimension
  // Half way around a torus both directions are equally long. Paths then go up. SimGrid's go down
  // if they end at coordinate 0; this flag selects that.
  bool half_way_to_0_is_down = false;

  // Numbered with the last coordinate running fastest.
  static Grid in_order(Kind kind, std::vector<std::uint32_t> extent);
  std::uint32_t points() const;  // number of points
  std::vector<std::uint32_t> coordinates(std::uint32_t point) const;
};

// For a host that is part of a machine: launchers know the machine, and its cores by number.
struct MachinePart {
  std::string machine;
  std::uint32_t first_core = 0;
};

class GivenRoutes;  // given_routes.h

class Network {
 public:
  const std::string& name() const { return name_; }

  std::uint32_t host_count() const { return static_cast<std::uint32_t>(slots_.size()); }
  std::uint32_t switch_count() const { return node_count() - host_count(); }
  std::uint32_t node_count() const { return static_cast<std::uint32_t>(names_.size()); }
  std::uint32_t link_count() const { return static_cast<std::uint32_t>(links_.size()); }

  bool is_host(NodeId node) const { return node < host_count(); }
  // The first forwarding node: the first switch, or the first host if there is no switch.
  NodeId first_forwarder() const { return switch_count() == 0 ? 0 : host_count(); }
  bool forwards(NodeId node) const { return node >= first_forwarder(); }

  const std::string& node_name(NodeId node) const { return names_[node]; }
  NodeId find_node(
      std::string_view name) const;  // kNoId if there is none. Linear search: not for hot paths

  // How many processes fit on the host.
  std::uint32_t slots(HostId host) const { return slots_[host]; }
  std::uint64_t total_slots() const;

  const Link& link(LinkId link) const { return links_[link]; }
  std::span<const Link> links() const { return links_; }
  // Whether the link joins two switches of the network; false for links of hosts and inside
  // machines.
  bool joins_switches(LinkId link) const {
    return is_switch(links_[link].source) && is_switch(links_[link].target);
  }
  LinkId find_link(NodeId source,
                   NodeId target) const;  // the first of several; kNoId if there is none

  // In the order they were added.
  std::span<const LinkId> links_from(NodeId node) const { return from_.of(node); }
  std::span<const LinkId> links_to(NodeId node) const { return to_.of(node); }

  // Needed for OpenFlow tables; empty and kNoDatapath if the cluster's file does not give them.
  const std::string& mac(HostId host) const;
  std::int64_t datapath(NodeId switch_node) const;

  // The machine that a host is part of, or the host's own name. host_names.h finds hosts by them.
  const std::string& machine(HostId host) const {
    return parts_.empty() ? names_[host] : parts_[host].machine;
  }
  std::uint32_t first_core(HostId host) const {
    return parts_.empty() ? 0 : parts_[host].first_core;
  }

  const Grid* grid() const { return grid_ ? &*grid_ : nullptr; }

  // The routes that the cluster's description prescribes; nullptr if it prescribes none.
  const std::shared_ptr<const GivenRoutes>& given_routes() const { return given_routes_; }
  // `routes` are in this network's numbers of hosts and links.
  void give_routes(std::shared_ptr<const GivenRoutes> routes) { given_routes_ = std::move(routes); }

 private:
  friend class NetworkBuilder;

  struct Adjacency {
    std::vector<std::uint32_t> first;  // by node, plus one final entry
    std::vector<LinkId> links;
    std::span<const LinkId> of(NodeId node) const {
      return {links.data() + first[node], links.data() + first[node + 1]};
    }
  };
  static Adjacency adjacency(std::uint32_t nodes, const std::vector<Link>& links,
                             NodeId Link::*end);

  bool is_switch(NodeId node) const {
    return !is_host(node) && (inside_.empty() || !inside_[node - host_count()]);
  }

  std::string name_;
  std::vector<std::string> names_;       // by node
  std::vector<std::uint32_t> slots_;     // by host
  std::vector<std::string> macs_;        // by host, or empty
  std::vector<std::int64_t> datapaths_;  // by switch, or empty
  std::vector<MachinePart> parts_;       // by host, or empty
  std::vector<char> inside_;             // by switch: whether it is inside a machine; or empty
  std::vector<Link> links_;
  Adjacency from_, to_;
  std::optional<Grid> grid_;
  std::shared_ptr<const GivenRoutes> given_routes_;
};

// The Error for a network above kMostNodes or kMostLinks, with the number.
base::Error too_large(double nodes, double links);

// Collects nodes and links in any order. The node numbers it returns are valid only for add_link()
// and add_cable(): the network renumbers its nodes, hosts first.
class NetworkBuilder {
 public:
  explicit NetworkBuilder(std::string name) : name_(std::move(name)) {}

  std::uint32_t add_host(std::string name, std::uint32_t slots, std::string mac = {});
  std::uint32_t add_switch(std::string name, std::int64_t datapath = kNoDatapath);
  std::uint32_t add_part(std::string name, std::uint32_t slots, MachinePart part);  // a host
  std::uint32_t add_inside(std::string name);  // a switch that joins the parts of a machine
  std::uint32_t add_copy(const Network& network, NodeId node);
  void add_link(std::uint32_t source, std::uint32_t target, double capacity_Bps, double latency_s,
                std::int32_t port = kNoPort);
  // Both directions.
  void add_cable(std::uint32_t one, std::uint32_t other, double capacity_Bps, double latency_s);
  void set_grid(Grid grid) { grid_ = std::move(grid); }

  // Leaves this builder empty. The Error names the node or link: a duplicate name, a host without
  // slots, a capacity that is not positive, a negative latency, a link from a node to itself, no
  // host at all.
  base::Result<Network> build();
  // The same for a file's contents: the Error begins with its path.
  base::Result<Network> build_from(const std::string& path);

 private:
  struct Node {
    std::string name;
    bool is_host;
    std::uint32_t slots;
    std::string mac = {};
    std::int64_t datapath = kNoDatapath;
    MachinePart part = {};
    bool is_inside = false;
  };
  void number_nodes(Network& network, bool hosts, std::vector<NodeId>& number);
  base::Status check() const;

  std::string name_;
  std::vector<Node> nodes_;
  std::vector<Link> links_;  // node numbers are this builder's
  std::optional<Grid> grid_;
};

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
// Max-min fair rates of flows that share links, updated as flows come and go.
//
// Flow i has a weight w_i > 0, a bound b_i (infinite unless given) and a route, a list of links.
// Link l has a capacity C_l. Let m_il be the number of times that l occurs on the route of i. Rates
// x are feasible if
//
//     x_i <= b_i  for all i,        sum_i m_il x_i <= C_l  for all l.
//
// The level of a flow is x_i / w_i. Rates are max-min fair if no level can be raised without
// lowering one that is no higher. This holds exactly if every flow below its bound has a bottleneck
// (D. Bertsekas, R. Gallager, Data Networks, 2nd ed., section 6.5.2, for w = 1): a link on its
// route that
//
//     (1) is saturated, sum_j m_jl x_j = C_l, and
//     (2) carries no flow of a higher level:  x_i / w_i = max_{j on l} x_j / w_j.
//
// These rates exist and are unique. Progressive filling (filling.h) finds them: all levels rise
// together, and when a link becomes full or a flow reaches its bound, the flows concerned stop
// there. A link l with remaining capacity r_l and unsettled weight W_l becomes full at level
//
//     r_l / W_l.
//
// This level only grows as other links become full, so a heap yields the links in order.
//
// solve() settles again only the flows that need it. It starts with flows that are new or have
// their bottleneck on a link whose flows or capacity changed, holds all others at their rates, and
// checks (1) and (2) for both kinds on the links concerned. Held flows that violate a condition are
// settled again too, until every flow has a bottleneck; the rates are then the max-min fair ones.
// Once that has cost as much as settling all flows, solve() settles together all flows connected
// with the change by any chain of shared links. This at most doubles the cost, O(hops *
// log(links)).
//
// Not checked: links exist, capacities >= 0, weights > 0, bounds >= 0, no NaN.
// Threading: one thread at a time. Memory: 16 bytes per hop of a route, about 100 per flow and
// link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "simulator/flow/filling.h"

namespace fathom::simulator {

class MaxMin {
 public:
  using Link = std::uint32_t;
  using Flow = std::uint32_t;  // reused after remove()

  static constexpr double kTolerance = 1e-9;  // relative, in (1) and (2)
  static constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  static constexpr Link kNoLink = 0xffffffff;

  explicit MaxMin(const std::vector<double>& capacities);

  // These take effect at the next solve(); until then a new flow has rate 0.
  Flow add(std::span<const Link> route, double weight = 1, double bound = kUnbounded);
  void remove(Flow flow);
  void set_capacity(Link link, double capacity);

  void solve();

  // The rate of a flow without links is its bound.
  double rate(Flow flow) const { return flows_[flow].rate; }
  // The link that limits the flow; kNoLink if its bound does.
  Link bottleneck(Flow flow) const { return flows_[flow].bottleneck; }
  double load(Link link) const { return links_[link].load; }
  double capacity(Link link) const { return links_[link].capacity; }
  std::size_t link_count() const { return links_.size(); }
  std::size_t flow_count() const { return flow_count_; }
  std::size_t hop_count() const { return hop_count_; }  // of all existing flows

  // What the last solve() changed: flows with a new rate (including new flows), and links whose
  // load may have changed.
  const std::vector<Flow>& changed_flows() const { return changed_flows_; }
  const std::vector<Link>& changed_links() const { return changed_links_; }

  // Hops settled by all solve() calls so far; the solver's time is proportional to this.
  std::uint64_t settled_hops() const { return settled_hops_; }

 private:
  static constexpr double kNever = Filling::kNever;

  struct FlowState {
    double weight = 1, bound = kUnbounded;
    double rate = 0, level = 0;
    std::uint32_t first = 0, length = 0;  // of its hops
    Link bottleneck = kNoLink;
    bool exists = false;
    bool rated = false;   // by a solve() since it was added
    bool active = false;  // being settled again
  };

  struct LinkState {
    double capacity = 0;
    double load = 0;                     // of flows that are not active
    double level = kNever;               // of the flows that have their bottleneck here
    std::uint32_t held = 0;              // flows that have their bottleneck here and are not active
    std::uint32_t in_filling = kNoLink;  // its number in filling_, during a solve()
    bool dirty = false;
  };

  struct Hop {  // of a route
    Link link;
    std::uint32_t position;  // in flows_on_[link]
  };
  struct Crossing {  // the other end of a Hop
    Flow flow;
    std::uint32_t hop;
  };

  std::uint32_t take_hops(std::uint32_t length);
  void leave(const Hop& hop, double rate);
  void mark_dirty(Link link);
  std::uint32_t involve(Link link);
  void activate(Flow flow);
  void activate_first();
  void activate_in_the_way();
  void activate_in_the_way_on(Link link, const Filling::Link& filled);
  void activate_connected();
  void set_rooms();
  void store();
  void store(Flow flow, const Filling::Flow& filled);

  template <typename Condition>
  void activate_if(Link link, Condition condition);

  std::vector<FlowState> flows_;
  std::vector<LinkState> links_;
  std::vector<std::vector<Crossing>> flows_on_;
  std::vector<Hop> hops_;
  std::vector<std::vector<std::uint32_t>> free_hops_;  // by length: freed places of removed routes
  std::vector<Flow> free_flows_;
  std::size_t flow_count_ = 0;
  std::size_t hop_count_ = 0;  // of existing flows

  std::vector<Flow> new_flows_;
  std::vector<Link> dirty_links_;
  std::vector<Flow> changed_flows_;
  std::vector<Link> changed_links_;  // by their number in filling_
  std::vector<Flow> active_;         // by their number in filling_
  Filling filling_;
  std::uint64_t settled_hops_ = 0;
};

}  // namespace fathom::simulator

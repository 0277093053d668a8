// SPDX-License-Identifier: BSD-3-Clause
// Progressive filling: all flows grow together from zero; finds the level at which each one stops.
//
// The mathematics is in maxmin.h, which calls this for one set of flows at a time. Links are
// numbered in the order of add_link(), flows in the order of add_flow(). A route may contain a link
// twice.
//
// Cost of fill(): O(hops * log(links)). No allocation once the arrays have grown.
// Threading: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace fathom::simulator {

class Filling {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr std::uint32_t kOwnBound = 0xffffffff;
  // Levels whose relative difference is below this are made equal, so that rounding does not
  // separate symmetric flows.
  static constexpr double kSameLevel = 1e-10;

  struct Flow {
    double weight = 1;
    double bound = kNever;                 // limit on its rate, weight * level
    std::uint32_t first = 0, end = 0;      // of its hops
    double level = 0;                      // result
    std::uint32_t bottleneck = kOwnBound;  // result: a link of its route, or kOwnBound
    bool settled = false;
  };

  struct Link {
    double room = 0;              // in: capacity for these flows; out: capacity they leave
    double level = kNever;        // result: level at which the link became full, if it did
    double highest = 0;           // result: highest level of a flow on it
    std::uint32_t hops = 0;       // of all flows
    double weight = 0;            // of unsettled flows, counted once per crossing
    double summed = 0;            // the weight at the last full summation
    std::uint32_t unsettled = 0;  // hops
    std::uint32_t first = 0;      // of its flows, in flows_on_
  };

  void clear();
  std::uint32_t add_link();
  // Call add_hop() next, once for each link of its route.
  void add_flow(double weight, double bound);
  void add_hop(std::uint32_t link);

  // Settles all flows, given each link's room (negative room counts as 0).
  void fill();

  Link& link(std::size_t index) { return links_[index]; }
  const Link& link(std::size_t index) const { return links_[index]; }
  const Flow& flow(std::size_t index) const { return flows_[index]; }
  std::size_t link_count() const { return links_.size(); }
  std::size_t flow_count() const { return flows_.size(); }
  std::size_t hop_count() const { return hops_.size(); }

 private:
  void start();
  void group_flows_by_link();
  double level_of(Link& link) const;
  double next_full_link();
  void settle(std::uint32_t flow, double level, std::uint32_t bottleneck);
  void settle_all_on(std::uint32_t link, double level);

  std::vector<Flow> flows_;
  std::vector<Link> links_;
  std::vector<std::uint32_t> hops_;                       // routes, one after the other
  std::vector<std::uint32_t> flows_on_;                   // by link, one after the other
  std::vector<std::pair<double, std::uint32_t>> bounds_;  // (level, flow), ascending
  std::vector<std::pair<double, std::uint32_t>> heap_;  // (lower bound of level, link), least first
};

}  // namespace fathom::simulator

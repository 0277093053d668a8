// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/flow/filling.h"

#include <algorithm>
#include <functional>

namespace fathom::simulator {
namespace {

// Once subtraction has shrunk a weight to this fraction, it is summed again: it has lost digits.
constexpr double kShrunk = 1e-4;

}  // namespace

void Filling::clear() {
  flows_.clear();
  links_.clear();
  hops_.clear();
}

std::uint32_t Filling::add_link() {
  links_.emplace_back();
  return static_cast<std::uint32_t>(links_.size() - 1);
}

void Filling::add_flow(double weight, double bound) {
  const auto here = static_cast<std::uint32_t>(hops_.size());
  flows_.push_back({.weight = weight, .bound = bound, .first = here, .end = here});
}

void Filling::add_hop(std::uint32_t link) {
  hops_.push_back(link);
  ++flows_.back().end;
  ++links_[link].hops;
}

void Filling::fill() {
  start();
  double level = -1;
  auto bound = bounds_.begin();
  for (;;) {
    const double full = next_full_link();
    if (bound != bounds_.end() && bound->first <= full) {
      if (!flows_[bound->second].settled) settle(bound->second, bound->first, kOwnBound);
      ++bound;
    } else if (heap_.empty()) {
      break;
    } else {
      if (full > level * (1 + kSameLevel)) level = full;
      const std::uint32_t link = heap_.front().second;
      links_[link].level = level;
      settle_all_on(link, level);
    }
  }
}

void Filling::start() {
  for (Link& link : links_) {
    link.level = kNever;
    link.highest = link.weight = 0;
    link.unsettled = link.hops;
  }
  bounds_.clear();
  for (std::uint32_t index = 0; index < flows_.size(); ++index) {
    Flow& flow = flows_[index];
    flow.settled = false;
    for (std::uint32_t hop = flow.first; hop < flow.end; ++hop) {
      links_[hops_[hop]].weight += flow.weight;
    }
    // A flow without links is limited only by its own bound, which may be infinite.
    if (flow.bound != kNever || flow.first == flow.end) {
      bounds_.emplace_back(flow.bound / flow.weight, index);
    }
  }
  std::sort(bounds_.begin(), bounds_.end());
  group_flows_by_link();
  heap_.clear();
  for (std::uint32_t index = 0; index < links_.size(); ++index) {
    Link& link = links_[index];
    link.summed = link.weight;
    if (link.unsettled > 0) heap_.emplace_back(level_of(link), index);
  }
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void Filling::group_flows_by_link() {
  std::uint32_t first = 0;
  for (Link& link : links_) {
    link.first = first;
    first += link.hops;
  }
  flows_on_.resize(hops_.size());
  for (std::uint32_t index = 0; index < flows_.size(); ++index) {
    for (std::uint32_t hop = flows_[index].first; hop < flows_[index].end; ++hop) {
      flows_on_[links_[hops_[hop]].first++] = index;
    }
  }
  for (Link& link : links_) link.first -= link.hops;
}

double Filling::level_of(Link& link) const {
  if (link.weight <= kShrunk * link.summed) {
    link.weight = 0;
    for (std::uint32_t at = link.first; at < link.first + link.hops; ++at) {
      const Flow& flow = flows_[flows_on_[at]];
      if (!flow.settled) link.weight += flow.weight;
    }
    link.summed = link.weight;
  }
  return std::max(link.room, 0.0) / link.weight;
}

// Moves the link that becomes full next to the front of the heap and returns its level, or kNever
// if no link is left. An entry whose link has lost flows since is out of date: it goes back with
// its current level, which is higher. Each settled hop causes at most one such update.
double Filling::next_full_link() {
  while (!heap_.empty()) {
    Link& link = links_[heap_.front().second];
    const double level = link.unsettled > 0 ? level_of(link) : kNever;
    if (link.unsettled > 0 && level <= heap_.front().first) return heap_.front().first;
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    if (link.unsettled > 0) {
      heap_.back().first = level;
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    } else {
      heap_.pop_back();
    }
  }
  return kNever;
}

void Filling::settle(std::uint32_t index, double level, std::uint32_t bottleneck) {
  Flow& flow = flows_[index];
  flow.settled = true;
  flow.level = level;
  flow.bottleneck = bottleneck;
  for (std::uint32_t hop = flow.first; hop < flow.end; ++hop) {
    Link& link = links_[hops_[hop]];
    link.room -= flow.weight * level;
    link.weight -= flow.weight;
    link.highest = level;  // levels come in ascending order
    --link.unsettled;
  }
}

void Filling::settle_all_on(std::uint32_t index, double level) {
  const Link& link = links_[index];
  for (std::uint32_t at = link.first; at < link.first + link.hops; ++at) {
    if (!flows_[flows_on_[at]].settled) settle(flows_on_[at], level, index);
  }
}

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/flow/maxmin.h"

#include <algorithm>
#include <cmath>

namespace fathom::simulator {
namespace {

bool same(double left, double right) {
  return left == right ||
         std::abs(left - right) <= Filling::kSameLevel * std::max(std::abs(left), std::abs(right));
}

}  // namespace

MaxMin::MaxMin(const std::vector<double>& capacities)
    : links_(capacities.size()), flows_on_(capacities.size()) {
  for (std::size_t link = 0; link < capacities.size(); ++link) {
    links_[link].capacity = capacities[link];
  }
}

MaxMin::Flow MaxMin::add(std::span<const Link> route, double weight, double bound) {
  Flow flow = static_cast<Flow>(flows_.size());
  if (free_flows_.empty()) {
    flows_.emplace_back();
  } else {
    flow = free_flows_.back();
    free_flows_.pop_back();
  }
  const auto length = static_cast<std::uint32_t>(route.size());
  const std::uint32_t first = take_hops(length);
  flows_[flow] = {
      .weight = weight, .bound = bound, .first = first, .length = length, .exists = true};
  for (std::uint32_t index = 0; index < length; ++index) {
    std::vector<Crossing>& flows_on = flows_on_[route[index]];
    hops_[first + index] = {route[index], static_cast<std::uint32_t>(flows_on.size())};
    flows_on.push_back({flow, first + index});
  }
  new_flows_.push_back(flow);
  ++flow_count_;
  hop_count_ += length;
  return flow;
}

void MaxMin::remove(Flow flow) {
  FlowState& state = flows_[flow];
  if (state.bottleneck != kNoLink) --links_[state.bottleneck].held;
  for (std::uint32_t hop = state.first; hop < state.first + state.length; ++hop) {
    leave(hops_[hop], state.rate);
  }
  if (free_hops_.size() <= state.length) free_hops_.resize(state.length + 1);
  free_hops_[state.length].push_back(state.first);
  free_flows_.push_back(flow);
  --flow_count_;
  hop_count_ -= state.length;
  state = {};
}

void MaxMin::leave(const Hop& hop, double rate) {
  std::vector<Crossing>& flows_on = flows_on_[hop.link];
  flows_on[hop.position] = flows_on.back();
  hops_[flows_on[hop.position].hop].position = hop.position;
  flows_on.pop_back();
  LinkState& link = links_[hop.link];
  link.load = flows_on.empty() ? 0 : link.load - rate;  // exactly 0, free of rounding
  mark_dirty(hop.link);
}

void MaxMin::set_capacity(Link link, double capacity) {
  links_[link].capacity = capacity;
  mark_dirty(link);
}

std::uint32_t MaxMin::take_hops(std::uint32_t length) {
  if (length < free_hops_.size() && !free_hops_[length].empty()) {
    const std::uint32_t first = free_hops_[length].back();
    free_hops_[length].pop_back();
    return first;
  }
  hops_.resize(hops_.size() + length);
  return static_cast<std::uint32_t>(hops_.size() - length);
}

void MaxMin::mark_dirty(Link link) {
  if (links_[link].dirty) return;
  links_[link].dirty = true;
  dirty_links_.push_back(link);
}

void MaxMin::solve() {
  changed_flows_.clear();
  changed_links_.clear();
  activate_first();
  const std::uint64_t patience = settled_hops_ + hop_count_;
  for (std::size_t settled = 0; settled != active_.size();) {
    if (settled != 0 && settled_hops_ + filling_.hop_count() > patience) activate_connected();
    settled = active_.size();
    set_rooms();
    filling_.fill();
    settled_hops_ += filling_.hop_count();
    activate_in_the_way();
  }
  store();
}

void MaxMin::activate_first() {
  for (Link link : dirty_links_) {
    LinkState& state = links_[link];
    state.dirty = false;
    involve(link);
    const bool overloaded = state.load > state.capacity * (1 + kTolerance);
    if (state.held == 0 && !overloaded) continue;
    activate_if(link, [&](const FlowState& flow) { return overloaded || flow.bottleneck == link; });
  }
  dirty_links_.clear();
  for (Flow flow : new_flows_) {
    if (flows_[flow].exists && !flows_[flow].rated) activate(flow);
  }
  new_flows_.clear();
}

std::uint32_t MaxMin::involve(Link link) {
  LinkState& state = links_[link];
  if (state.in_filling == kNoLink) {
    state.in_filling = filling_.add_link();
    changed_links_.push_back(link);
  }
  return state.in_filling;
}

void MaxMin::activate(Flow flow) {
  FlowState& state = flows_[flow];
  if (state.active) return;
  state.active = true;
  active_.push_back(flow);
  filling_.add_flow(state.weight, state.bound);
  for (std::uint32_t hop = state.first; hop < state.first + state.length; ++hop) {
    const Link link = hops_[hop].link;
    filling_.add_hop(involve(link));
    links_[link].load -= state.rate;
  }
  if (state.bottleneck != kNoLink) --links_[state.bottleneck].held;
}

template <typename Condition>
void MaxMin::activate_if(Link link, Condition condition) {
  for (const Crossing& crossing : flows_on_[link]) {
    const FlowState& flow = flows_[crossing.flow];
    if (!flow.active && condition(flow)) activate(crossing.flow);
  }
}

// Activates every flow connected with an active one by any chain of shared links.
void MaxMin::activate_connected() {
  for (std::size_t index = 0; index < changed_links_.size(); ++index) {
    activate_if(changed_links_[index], [](const FlowState&) { return true; });
  }
}

void MaxMin::set_rooms() {
  for (std::size_t index = 0; index < changed_links_.size(); ++index) {
    const Link link = changed_links_[index];
    LinkState& state = links_[link];
    Filling::Link& filling = filling_.link(index);
    // With no held flow on the link, its load is 0: this clears accumulated rounding.
    if (filling.hops == flows_on_[link].size()) state.load = 0;
    filling.room = state.capacity - state.load;
  }
}

void MaxMin::activate_in_the_way() {
  const std::size_t involved = changed_links_.size();
  for (std::size_t index = 0; index < involved; ++index) {
    const Link link = changed_links_[index];
    const Filling::Link filled = filling_.link(index);
    if (filled.hops < flows_on_[link].size()) activate_in_the_way_on(link, filled);
  }
}

// Checks conditions (1) and (2) on a link that active and held flows share.
void MaxMin::activate_in_the_way_on(Link link, const Filling::Link& filled) {
  const LinkState& state = links_[link];
  // An active flow has its bottleneck here, so no held flow may have a higher level. None has if
  // the link was a bottleneck before at this level or a lower one.
  if (filled.level != kNever && !(state.level <= filled.level)) {
    const double limit = filled.level * (1 + kTolerance);
    activate_if(link, [=](const FlowState& flow) { return flow.level > limit; });
  }
  // A held flow has its bottleneck here, so the link must still be full and its level the highest.
  const bool full = filled.room <= kTolerance * state.capacity;
  if (state.held > 0 && (!full || filled.highest > state.level * (1 + kTolerance))) {
    activate_if(link, [=](const FlowState& flow) { return flow.bottleneck == link; });
  }
}

void MaxMin::store() {
  for (std::size_t index = 0; index < changed_links_.size(); ++index) {
    LinkState& state = links_[changed_links_[index]];
    const double level = filling_.link(index).level;
    if (level != kNever || state.held == 0) state.level = level;
    state.in_filling = kNoLink;
  }
  for (std::size_t index = 0; index < active_.size(); ++index) {
    store(active_[index], filling_.flow(index));
  }
  active_.clear();
  filling_.clear();
}

void MaxMin::store(Flow flow, const Filling::Flow& filled) {
  FlowState& state = flows_[flow];
  const bool at_bound = filled.bottleneck == Filling::kOwnBound;
  const double rate = at_bound ? state.bound : state.weight * filled.level;
  if (!state.rated || !same(rate, state.rate)) {
    state.rate = rate;
    state.level = filled.level;
    changed_flows_.push_back(flow);
  }
  state.rated = true;
  state.active = false;
  state.bottleneck = at_bound ? kNoLink : changed_links_[filled.bottleneck];
  if (!at_bound) ++links_[state.bottleneck].held;
  for (std::uint32_t hop = state.first; hop < state.first + state.length; ++hop) {
    links_[hops_[hop].link].load += state.rate;
  }
}

}  // namespace fathom::simulator

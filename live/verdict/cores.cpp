// SPDX-License-Identifier: BSD-3-Clause
// The cores of a wait graph: its strongly connected components that need nobody outside (Tarjan, Depth-first search
// and linear graph algorithms, SIAM J. Comput. 1, 1972; without recursion, because a chain of waiting ranks can
// be as long as the job is wide).
#include <algorithm>
#include <limits>
#include <utility>

#include "live/verdict/wait_graph.h"

namespace fathom::live {
namespace {

using Edges = std::vector<std::vector<std::uint32_t>>;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// The component of each vertex, and how many there are.
struct Components {
  std::vector<std::uint32_t> of;
  std::uint32_t count = 0;

  explicit Components(const Edges& edges)
      : of(edges.size(), kNone), order_(edges.size(), kNone), low_(edges.size()) {
    for (std::uint32_t vertex = 0; vertex < edges.size(); ++vertex) {
      if (order_[vertex] == kNone) visit(vertex, edges);
    }
  }

 private:
  void enter(std::uint32_t vertex) {
    order_[vertex] = low_[vertex] = next_++;
    open_.push_back(vertex);
    path_.emplace_back(vertex, 0);
  }

  void visit(std::uint32_t start, const Edges& edges) {
    enter(start);
    while (!path_.empty()) {
      auto& [vertex, taken] = path_.back();
      if (taken < edges[vertex].size()) {
        const std::uint32_t next = edges[vertex][taken++];
        if (order_[next] == kNone) {
          enter(next);
        } else if (of[next] == kNone) {
          low_[vertex] = std::min(low_[vertex], order_[next]);
        }
        continue;
      }
      leave();
    }
  }

  void leave() {
    const std::uint32_t vertex = path_.back().first;
    path_.pop_back();
    if (!path_.empty()) {
      std::uint32_t& above = low_[path_.back().first];
      above = std::min(above, low_[vertex]);
    }
    if (low_[vertex] != order_[vertex]) return;
    for (std::uint32_t member = kNone; member != vertex; open_.pop_back()) {
      member = open_.back();
      of[member] = count;
    }
    ++count;
  }

  std::vector<std::uint32_t> order_, low_, open_;
  std::vector<std::pair<std::uint32_t, std::size_t>> path_;
  std::uint32_t next_ = 0;
};

Edges reversed(const Edges& edges) {
  Edges back(edges.size());
  for (std::uint32_t from = 0; from < edges.size(); ++from) {
    for (const std::uint32_t to : edges[from]) back[to].push_back(from);
  }
  return back;
}

std::vector<WaitGraph::Core> sinks_of(const Edges& edges, std::size_t ranks,
                                      const std::vector<char>& counts) {
  const Components components(edges);
  std::vector<char> is_sink(components.count, 1);
  std::vector<std::vector<std::uint32_t>> members(components.count);
  for (std::uint32_t vertex = 0; vertex < edges.size(); ++vertex) {
    members[components.of[vertex]].push_back(vertex);
    for (const std::uint32_t next : edges[vertex]) {
      if (components.of[next] != components.of[vertex]) is_sink[components.of[vertex]] = 0;
    }
  }
  const Edges back = reversed(edges);
  std::vector<std::uint32_t> seen(edges.size(), kNone);
  std::vector<WaitGraph::Core> cores;
  for (std::uint32_t component = 0; component < components.count; ++component) {
    if (!is_sink[component]) continue;
    WaitGraph::Core core;
    for (const std::uint32_t vertex : members[component]) {
      if (vertex < ranks && counts[vertex]) core.ranks.push_back(static_cast<std::int32_t>(vertex));
    }
    if (core.ranks.empty()) continue;
    std::vector<std::uint32_t> queue = members[component];
    for (const std::uint32_t vertex : queue) seen[vertex] = component;
    for (std::size_t at = 0; at < queue.size(); ++at) {
      if (queue[at] < ranks && !edges[queue[at]].empty())
        core.victims.push_back(static_cast<std::int32_t>(queue[at]));
      for (const std::uint32_t from : back[queue[at]]) {
        if (std::exchange(seen[from], component) != component) queue.push_back(from);
      }
    }
    std::ranges::sort(core.ranks);
    std::ranges::sort(core.victims);
    cores.push_back(std::move(core));
  }
  std::ranges::stable_sort(cores, std::greater<>(),
                           [](const WaitGraph::Core& core) { return core.victims.size(); });
  return cores;
}

}  // namespace

// Ranks are the first vertices, groups the others: a rank needs groups, and a group its ranks. Of what is stuck,
// only needs that cannot be met; of the rest, those that are not met yet.
std::vector<std::vector<std::uint32_t>> WaitGraph::edges(bool stuck) const {
  const std::size_t ranks = released_.size();
  Edges edges(ranks + groups_.size());
  std::vector<char> is_used(groups_.size(), 0);
  for (const Node& node : nodes_) {
    const bool counted = stuck ? node.stuck() : node.waits() && node.released && !node.has_all();
    if (!counted || (stuck && !terminal(node.process->rank) && !blocked(node.process->rank)))
      continue;
    for (const Need& need : node.needs) {
      if (need.met || (stuck && can_be_met(need))) continue;
      is_used[need.group] = 1;
      edges[static_cast<std::size_t>(node.process->rank)].push_back(
          static_cast<std::uint32_t>(ranks + need.group));
    }
  }
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (!is_used[group]) continue;
    for (const std::int32_t rank : groups_[group]) {
      if (valid(rank) && blocked(rank) == stuck)
        edges[ranks + group].push_back(static_cast<std::uint32_t>(rank));
    }
  }
  return edges;
}

std::vector<WaitGraph::Core> WaitGraph::cores() const {
  std::vector<char> counts(released_.size(), 0);
  for (std::size_t rank = 0; rank < counts.size(); ++rank) counts[rank] = !released_[rank];
  auto cores = sinks_of(edges(true), released_.size(), counts);
  // A rank that has ended and that nobody waits for is no problem; one that died or was stopped is.
  std::erase_if(cores, [this](const Core& core) {
    const RankState* state = view_.rank(core.ranks.front());
    return core.victims.empty() && (state == nullptr || (state->state != ProcessState::kGone &&
                                                         state->state != ProcessState::kStopped));
  });
  return cores;
}

std::vector<WaitGraph::Core> WaitGraph::roots() const {
  std::vector<char> counts(released_.size(), 1);
  auto roots = sinks_of(edges(false), released_.size(), counts);
  std::erase_if(roots, [](const Core& core) { return core.victims.empty(); });
  return roots;
}

}  // namespace fathom::live

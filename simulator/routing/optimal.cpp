// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/routing/optimal.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <utility>

#include "simulator/routing/hop_by_hop.h"
#include "simulator/routing/link_costs.h"

namespace fathom::simulator {
namespace {

constexpr double kCloseEnough = 1.01;
constexpr double kSteps[] = {0.5, 0.2, 0.1, 0.05, 0.02};  // growth of weights, round by round
constexpr std::size_t kMostPhases = 1000;                 // per round
constexpr double kMostVisits = 2e9;                       // links visited, over all phases
constexpr double kMostGrowth = 50;                        // of the exponent

using Way = std::vector<LinkId>;

// All bytes from one node to one target.
struct Commodity {
  NodeId target = kNoId;
  double bytes = 0;
  std::map<Way, std::size_t> ways;  // number of phases of this round that took each
};

// Distances and paths from one node to all others under the current lengths: Dijkstra's algorithm.
class NearestWays {
 public:
  explicit NearestWays(const Network& network)
      : network_(network), distance_(network.node_count()), link_(network.node_count()) {}

  void search(NodeId source, const std::vector<double>& length) {
    std::fill(distance_.begin(), distance_.end(), std::numeric_limits<double>::infinity());
    distance_[source] = 0;
    using Entry = std::pair<double, NodeId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    queue.push({0, source});
    while (!queue.empty()) {
      const auto [distance, node] = queue.top();
      queue.pop();
      if (distance > distance_[node] || (node != source && !network_.forwards(node))) continue;
      for (const LinkId link : network_.links_from(node)) {
        const NodeId to = network_.link(link).target;
        const double there = distance + length[link];
        if (there >= distance_[to]) continue;
        distance_[to] = there;
        link_[to] = link;
        queue.push({there, to});
      }
    }
  }

  double distance(NodeId node) const { return distance_[node]; }

  Way way(NodeId source, NodeId target) const {
    Way links;
    for (NodeId at = target; at != source; at = network_.link(links.back()).source) {
      links.push_back(link_[at]);
    }
    std::reverse(links.begin(), links.end());
    return links;
  }

 private:
  const Network& network_;
  std::vector<double> distance_;  // by node
  std::vector<LinkId> link_;      // by node: last link of its nearest path
};

class OptimalRouter : public Router {
 public:
  explicit OptimalRouter(const Network& network)
      : network_(network), paths_(network), counts_(network), nearest_(network) {}

  base::Status route(std::span<const Demand> demands, const LinkUse& background,
                     RouteSink& sink) override {
    background_ = &background.bytes;
    if (auto status = collect(demands); !status) return status;
    weight_.assign(network_.link_count(), 1);
    if (!groups_.empty()) {
      find_first_bound();
      for (const double step : kSteps) {
        run_round(step);
        if (largest_ <= bound_ * kCloseEnough) break;
      }
    }
    for (std::size_t index = 0; index < demands.size(); ++index)
      hand_over(demands[index], index, sink);
    return base::Done{};
  }

  double congestion_bound() const override { return bound_; }

 private:
  // The node at which a host's paths first have a choice: its only neighbour, or the host itself.
  NodeId entry_of(HostId host) const {
    const auto links = network_.links_from(host);
    if (links.size() != 1) return host;
    const NodeId next = network_.link(links.front()).target;
    return network_.forwards(next) ? next : host;
  }

  base::Status collect(std::span<const Demand> demands) {
    groups_.clear();
    for (const Demand& demand : demands) {
      if (demand.source == demand.destination) continue;
      const NodeId entry = entry_of(demand.source), target = paths_.target_of(demand.destination);
      if (paths_.toward(target).distance(demand.source) == ShortestPaths::kUnreachable) {
        return no_way(network_, demand.source, demand.destination);
      }
      Commodity& commodity = groups_[entry][target];
      commodity.target = target;
      commodity.bytes += demand.bytes;
    }
    return base::Done{};
  }

  // The bound under the initial lengths, before any load changes them.
  void find_first_bound() {
    normalise();
    double reach = 0, room = 0;
    for (const auto& [entry, commodities] : groups_) {
      nearest_.search(entry, length_);
      for (const auto& [target, commodity] : commodities) {
        reach += commodity.bytes * nearest_.distance(target);
      }
    }
    for (LinkId link = 0; link < network_.link_count(); ++link) {
      reach += (*background_)[link] * length_[link];
      room += network_.link(link).capacity_Bps * length_[link];
    }
    bound_ = room > 0 ? reach / room : 0;
  }

  std::size_t most_phases() const {
    const double visits = static_cast<double>(groups_.size()) * network_.link_count();
    return static_cast<std::size_t>(std::clamp(kMostVisits / std::size(kSteps) / visits, 2.0,
                                               static_cast<double>(kMostPhases)));
  }

  void run_round(double step) {
    bytes_.assign(network_.link_count(), 0);
    phases_ = 0;
    for (auto& [entry, commodities] : groups_) {
      for (auto& [target, commodity] : commodities) commodity.ways.clear();
    }
    const std::size_t most = most_phases();
    while (phases_ < most) {
      normalise();
      run_phase(step);
      if (largest_ <= bound_ * kCloseEnough) break;
    }
  }

  void normalise() {
    const double heaviest = *std::max_element(weight_.begin(), weight_.end());
    length_.resize(weight_.size());
    for (LinkId link = 0; link < weight_.size(); ++link) {
      weight_[link] = std::max(weight_[link] / heaviest, 1e-200);
      length_[link] = counts_.counts(link) ? weight_[link] / network_.link(link).capacity_Bps : 0;
    }
  }

  void run_phase(double step) {
    ++phases_;
    double reach = 0;  // sum of bytes times distance
    for (auto& [entry, commodities] : groups_) {
      nearest_.search(entry, length_);
      for (auto& [target, commodity] : commodities) {
        reach += commodity.bytes * nearest_.distance(target);
        const Way way = nearest_.way(entry, target);
        ++commodity.ways[way];
        for (const LinkId link : way) load(link, commodity.bytes, step);
      }
    }
    double room = 0;
    largest_ = 0;
    for (LinkId link = 0; link < network_.link_count(); ++link) {
      if (!counts_.counts(link)) continue;
      const double capacity = network_.link(link).capacity_Bps;
      if ((*background_)[link] > 0) load(link, (*background_)[link], step);
      reach += (*background_)[link] * length_[link];
      room += capacity * length_[link];
      largest_ = std::max(largest_, bytes_[link] / static_cast<double>(phases_) / capacity);
    }
    if (room > 0) bound_ = std::max(bound_, reach / room);
  }

  // Grows the weight exponentially with these bytes' congestion over the best known lower bound.
  void load(LinkId link, double bytes, double step) {
    if (!counts_.counts(link)) return;
    bytes_[link] += bytes;
    const double congestion = bytes / network_.link(link).capacity_Bps;
    const double growth =
        bound_ > 0 ? std::exp(std::min(step * congestion / bound_, kMostGrowth)) : 1;
    weight_[link] *= growth;
    length_[link] *= growth;
  }

  void hand_over(const Demand& demand, std::size_t index, RouteSink& sink) {
    if (demand.source == demand.destination) return sink.take(index, {}, 1);
    const NodeId entry = entry_of(demand.source), target = paths_.target_of(demand.destination);
    for (const auto& [way, times] : groups_[entry][target].ways) {
      Way whole;
      if (entry != demand.source) whole.push_back(network_.links_from(demand.source).front());
      whole.insert(whole.end(), way.begin(), way.end());
      if (target != demand.destination)
        whole.push_back(network_.links_to(demand.destination).front());
      sink.take(index, whole, static_cast<double>(times) / static_cast<double>(phases_));
    }
  }

  const Network& network_;
  ShortestPaths paths_;
  LinkCosts counts_;
  NearestWays nearest_;
  std::map<NodeId, std::map<NodeId, Commodity>> groups_;  // by entry, then by target
  const std::vector<double>* background_ = nullptr;
  std::vector<double> weight_, length_;  // by link
  std::vector<double> bytes_;            // by link: all phases of this round
  std::size_t phases_ = 0;
  double largest_ = 0;  // congestion of the mean over the phases
  double bound_ = 0;
};

}  // namespace

base::Result<std::unique_ptr<Router>> make_optimal(const Network& network, const RouterOptions&) {
  return std::unique_ptr<Router>(new OptimalRouter(network));
}

}  // namespace fathom::simulator

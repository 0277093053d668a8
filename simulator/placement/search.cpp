// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/search.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/order/sort_stably.h"
#include "simulator/placement/distance/annealing.h"
#include "simulator/placement/distance/grid_placement.h"
#include "simulator/placement/distance/scotch_mapping.h"
#include "simulator/placement/recursive_bisection.h"
#include "simulator/placement/simple_placements.h"
#include "simulator/placement/treematch.h"

namespace fathom::simulator {
namespace {

constexpr BisectionStyle kBisections[] = {{1, false, false},  {1, true, true},
                                          {2.5, true, false}, {1, false, true},
                                          {1.5, true, false}, {2.5, false, true}};
constexpr std::size_t kStarts = 5;  // of these, the best are annealed

// How hot is best depends on how much of the structure a start already has.
constexpr std::array<double, 3> kTemperatures = {1.5, 4, 10};
constexpr double kLast = 0.05;

// How many runs go on at each temperature after each round, and their part of all moves.
struct Round {
  std::size_t runs;
  double moves;
};
constexpr Round kAnnealingRounds[] = {{kStarts, 0.3}, {2, 0.2}, {1, 0.2}};

class PlaceSearch {
 public:
  PlaceSearch(const PlacementRequest& request, const PlaceCosts& costs, const SearchEffort& effort,
              double bound)
      : request_(request),
        costs_(costs),
        effort_(effort),
        bound_(bound),
        moves_(effort.moves_of(request.job)) {}

  // Each round drops the worse runs, because moves are what takes the time.
  base::Result<Places> run() {
    if (auto begun = start(); !begun) return begun.error();
    base::sort_stably(starts_,
                      [](const State& one, const State& other) { return one.cost < other.cost; });
    starts_.resize(std::min(starts_.size(), kStarts));
    std::array<std::vector<State>, kTemperatures.size()> runs;
    runs.fill(starts_);
    for (const Round& round : kAnnealingRounds) {
      for (std::size_t at = 0; at < runs.size(); ++at) {
        runs[at].resize(std::min(runs[at].size(), round.runs));
        const double share = round.moves / static_cast<double>(runs.size() * runs[at].size());
        for (State& run : runs[at]) anneal(run, kTemperatures[at], share);
        base::sort_stably(
            runs[at], [](const State& one, const State& other) { return one.cost < other.cost; });
      }
    }
    const auto best = std::min_element(
        runs.begin(), runs.end(),
        [](const auto& one, const auto& other) { return one.front().cost < other.front().cost; });
    anneal(best->front(), kTemperatures[static_cast<std::size_t>(best - runs.begin())], 0.2);
    anneal(best_, kTemperatures.front() / 2, 0.1);
    return std::move(best_.places);
  }

 private:
  base::Status start() {
    for (const auto place : {place_block, place_treematch}) {
      const auto placement = place(request_);
      if (!placement) return placement.error();
      consider(*costs_.places_of(*placement));
    }
    if (auto places = place_on_grid(costs_)) consider(std::move(*places));
    if (is_done()) return base::Done{};
    report("Scotch", 0);
    for (Places& places : scotch_mappings(costs_)) consider(std::move(places));
    std::uint64_t seed = request_.seed;
    for (const BisectionStyle& style : kBisections) {
      if (!has_bisection() || is_done()) break;
      report("bisection", static_cast<double>(&style - kBisections) / std::size(kBisections));
      auto places = bisected(costs_, style, seed++);
      if (!places) return places.error();
      consider(std::move(*places));
    }
    return base::Done{};
  }

  struct State {
    Places places;
    double cost = 0;
  };

  void consider(Places places) {
    State state{std::move(places), 0};
    state.cost = costs_.of(state.places);
    if (best_.places.empty() || state.cost < best_.cost) best_ = state;
    starts_.push_back(std::move(state));
  }

  // Goes on from this state, and leaves the run's best in it.
  void anneal(State& state, double first, double share) {
    if (is_done()) return;
    Annealing annealing(costs_, state.places, request_.seed + ++annealed_);
    annealing.run({static_cast<std::uint64_t>(share * static_cast<double>(moves_)), first, kLast},
                  bound_, [&](double part) { report("annealing", done_ + part * share); });
    done_ += share;
    state = {annealing.best(), annealing.best_cost()};
    if (state.cost < best_.cost) best_ = state;
  }

  bool is_done() const { return best_.cost <= bound_; }
  void report(const char* what, double part) const {
    if (effort_.progress) effort_.progress(what, part);
  }

  const PlacementRequest& request_;
  const PlaceCosts& costs_;
  const SearchEffort& effort_;
  double bound_;
  std::uint64_t moves_;
  std::vector<State> starts_;
  State best_;
  std::uint64_t annealed_ = 0;
  double done_ = 0;  // part of all moves
};

}  // namespace

std::uint64_t SearchEffort::moves_of(const Job& job) const {
  if (moves > 0) return moves;
  const auto ranks = static_cast<std::uint64_t>(job.ranks);
  return ranks > 2048 ? 20'000'000
                      : std::clamp<std::uint64_t>(ranks * 60'000, 1'000'000, 60'000'000);
}

base::Result<Places> search_places(const PlacementRequest& request, const PlaceCosts& costs,
                                   const SearchEffort& effort) {
  return PlaceSearch(request, costs, effort, nearest_places_bound(request.job, costs)).run();
}

base::Result<Placement> place_search(const PlacementRequest& request) {
  const PlaceCosts costs(request.network, request.job, request.hosts);
  const auto places = search_places(request, costs);
  if (!places) return places.error();
  return costs.hosts_of(*places);
}

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/advisor.h"

#include <algorithm>
#include <utility>

#include "simulator/placement/load_search.h"
#include "simulator/placement/recursive_bisection.h"
#include "simulator/placement/registry.h"
#include "simulator/placement/search.h"
#include "simulator/routing/registry.h"

namespace fathom::simulator {
namespace {

constexpr int kRounds = 4;  // of search; a router that looks at loads changes its paths each time

class Advisor {
 public:
  explicit Advisor(const AdviceRequest& request)
      : request_(request),
        to_place_{request.network, request.job, request.hosts, request.seed},
        costs_(request.network, request.job, request.hosts) {}

  base::Result<Advice> run() {
    advice_.bounds = lower_bounds(request_.network, request_.job, request_.hosts, costs_);
    if (auto made = make_placements(); !made) return made.error();
    for (const RouterRow* router : request_.routers) {
      const std::size_t first = advice_.candidates.size();
      for (const auto& [name, placement] : placements_) {
        if (auto added = add(name, *router, placement); !added) return added.error();
      }
      if (auto improved = improve(*router, first); !improved) return improved.error();
    }
    std::stable_sort(
        advice_.candidates.begin() + 1, advice_.candidates.end(),
        [this](const Candidate& one, const Candidate& other) { return score(one) < score(other); });
    return std::move(advice_);
  }

 private:
  double score(const Candidate& candidate) const { return candidate.scores[request_.objective]; }

  // The same for every router.
  base::Status make_placements() {
    placements_ = {{"present", request_.present}};
    for (const PlacementRow& row : placements()) {
      if (row.place == place_bisection && !has_bisection()) continue;
      if (row.place == place_search) {
        if (auto added = add_search(row.name, costs_); !added) return added;
        continue;
      }
      auto placement = place_processes(row, to_place_);
      if (!placement) return placement.error();
      placements_.emplace_back(row.name, std::move(*placement));
    }
    if (request_.objective != Objective::kHostBytes) return base::Done{};
    return add_search("improved", PlaceCosts(request_.network, request_.job, request_.hosts,
                                             PlaceMetric::kHosts));
  }

  base::Status add_search(const char* name, const PlaceCosts& costs) {
    const auto places = search_places(to_place_, costs, request_.effort);
    if (!places) return places.error();
    placements_.emplace_back(name, costs_.hosts_of(*places));
    return base::Done{};
  }

  base::Status add(const std::string& name, const RouterRow& router, Placement placement) {
    const auto scores = evaluate(request_.network, request_.job, placement, router, request_.seed,
                                 request_.objective == Objective::kTime);
    if (!scores) return base::Error{name + ", " + router.name + ": " + scores.error().message};
    advice_.candidates.push_back({name, router.name, std::move(placement), *scores});
    return base::Done{};
  }

  // Starts from the best candidate so far with this router.
  base::Status improve(const RouterRow& router, std::size_t first) {
    for (int round = 0; round < kRounds; ++round) {
      const auto best = std::min_element(
          advice_.candidates.begin() + static_cast<std::ptrdiff_t>(first), advice_.candidates.end(),
          [this](const Candidate& one, const Candidate& other) {
            return score(one) < score(other);
          });
      const double before = score(*best);
      auto places = costs_.places_of(best->places);
      if (!places) return places.error();
      if (is_searched(before, *places)) break;
      places = improve_loads(to_place_, costs_, router, request_.objective, std::move(*places),
                             request_.effort);
      if (!places) return places.error();
      if (auto added = add("improved", router, costs_.hosts_of(*places)); !added) return added;
      if (score(advice_.candidates.back()) < before) continue;
      advice_.candidates.pop_back();
      break;
    }
    return base::Done{};
  }

  // Whether the search by distances has already done all that can be done for this objective: bytes
  // between hosts do not depend on paths, nor do hop-bytes where all paths are shortest.
  bool is_searched(double score, const Places& places) const {
    return score <= advice_.bounds[request_.objective] ||
           request_.objective == Objective::kHostBytes ||
           (request_.objective == Objective::kHopBytes && score <= costs_.of(places));
  }

  const AdviceRequest& request_;
  PlacementRequest to_place_;
  PlaceCosts costs_;
  std::vector<std::pair<std::string, Placement>> placements_;  // by name, the present one first
  Advice advice_;
};

}  // namespace

base::Result<Advice> advise(const AdviceRequest& request) { return Advisor(request).run(); }

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/advisor.h"

#include <algorithm>
#include <utility>

#include "simulator/placement/recursive_bisection.h"
#include "simulator/placement/registry.h"
#include "simulator/routing/registry.h"

namespace fathom::simulator {
namespace {

constexpr int kRounds = 4;  // of search; a router that looks at loads changes its paths each time

class Advisor {
 public:
  explicit Advisor(const AdviceRequest& request)
      : request_(request), to_place_{request.network, request.job, request.hosts, request.seed} {}

  base::Result<Advice> run() {
    advice_.bounds = lower_bounds(request_.network, request_.job, request_.hosts);
    for (const RouterRow* router : request_.routers) {
      const std::size_t first = advice_.candidates.size();
      if (auto added = add("present", *router, request_.present); !added) return added.error();
      for (const PlacementRow& row : placements()) {
        if (row.place == place_bisection && !has_bisection()) continue;
        auto placement = place_processes(row, to_place_);
        if (!placement) return placement.error();
        if (auto added = add(row.name, *router, std::move(*placement)); !added)
          return added.error();
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

  base::Status add(const std::string& name, const RouterRow& router, Placement placement) {
    const auto scores = evaluate(request_.network, request_.job, placement, router, request_.seed,
                                 request_.with_time);
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
      auto placement =
          improve_placement(to_place_, router, request_.objective, best->places, request_.effort);
      if (!placement) return placement.error();
      if (auto added = add("improved", router, std::move(*placement)); !added) return added;
      if (score(advice_.candidates.back()) < before) continue;
      advice_.candidates.pop_back();
      break;
    }
    return base::Done{};
  }

  const AdviceRequest& request_;
  PlacementRequest to_place_;
  Advice advice_;
};

}  // namespace

base::Result<Advice> advise(const AdviceRequest& request) { return Advisor(request).run(); }

}  // namespace fathom::simulator

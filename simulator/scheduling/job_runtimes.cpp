// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/scheduling/job_runtimes.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "simulator/flow/phases.h"
#include "simulator/placement/placed_routes.h"

namespace fathom::simulator {
namespace {

class FixedRuntimes : public JobRuntimes {
 public:
  base::Status start(const StartedJob& job, const LinkUse&) override {
    ends_.push_back({job.start_s + job.duration_s, job.number});
    std::push_heap(ends_.begin(), ends_.end(), std::greater<>());
    return base::Done{};
  }

  double next_event_s() override { return ends_.empty() ? kNever : ends_.front().first; }

  base::Result<std::span<const EndedJob>> step() override {
    const auto [end_s, number] = ends_.front();
    std::pop_heap(ends_.begin(), ends_.end(), std::greater<>());
    ends_.pop_back();
    ended_ = {number, end_s};
    return std::span<const EndedJob>(&ended_, 1);
  }

 private:
  std::vector<std::pair<double, std::uint32_t>> ends_;  // heap of (end, number), earliest first
  EndedJob ended_;
};

class FlowRuntimes : public JobRuntimes {
 public:
  FlowRuntimes(const Network& network, const RouterRow& router, std::uint64_t seed, FlowModel model)
      : network_(network), router_(router), seed_(seed), model_(std::move(model)), jobs_(model_) {}

  void keep_usage(LinkUsage* usage) { model_.keep_usage(usage); }

  base::Status start(const StartedJob& job, const LinkUse& background) override {
    auto routes =
        PlacedRoutes::make(network_, *job.job, *job.placement, router_, seed_, background);
    if (!routes) return routes.error();
    auto kept = std::make_unique<PlacedRoutes>(std::move(*routes));
    last_ = {job.start_s, phases_of(job, *kept)};
    auto number = jobs_.start(last_);
    if (!number) return number.error();
    running_.push_back({job.number, std::move(kept)});  // its index in jobs_ is its number
    return base::Done{};
  }

  double next_event_s() override { return jobs_.next_event_s(); }

  base::Result<std::span<const EndedJob>> step() override {
    const auto ended = jobs_.step();
    if (!ended) return ended.error();
    ended_.clear();
    for (const std::size_t job : *ended) {
      ended_.push_back({running_[job].number, jobs_.time(job).end_s});
      running_[job].routes.reset();
    }
    return std::span<const EndedJob>(ended_);
  }

  base::Result<double> alone_s() override {
    // A separate model with the same paths, so that contention is the only difference.
    auto model = FlowModel::create(link_speeds(network_));
    if (!model) return model.error();
    const auto times = run_together(*model, {&last_, 1});
    if (!times) return times.error();
    return times->front().duration_s;
  }

 private:
  struct Running {
    std::uint32_t number;
    std::unique_ptr<PlacedRoutes> routes;
  };

  static std::vector<Phase> phases_of(const StartedJob& job, const PlacedRoutes& routes) {
    Phase part = routes.phase(*job.job, job.duration_s / job.phases);
    for (PhaseFlow& flow : part.flows) flow.size_bytes /= job.phases;
    return std::vector<Phase>(job.phases, part);
  }

  const Network& network_;
  const RouterRow& router_;
  std::uint64_t seed_;
  FlowModel model_;
  PhasedJobs jobs_;
  PhasedJob last_;
  std::vector<Running> running_;
  std::vector<EndedJob> ended_;
};

}  // namespace

std::unique_ptr<JobRuntimes> make_fixed_runtimes() { return std::make_unique<FixedRuntimes>(); }

base::Result<std::unique_ptr<JobRuntimes>> make_flow_runtimes(const Network& network,
                                                              const RouterRow& router,
                                                              std::uint64_t seed,
                                                              LinkUsage* usage) {
  auto model = FlowModel::create(link_speeds(network));
  if (!model) return model.error();
  auto runtimes = std::make_unique<FlowRuntimes>(network, router, seed, std::move(*model));
  if (usage != nullptr) runtimes->keep_usage(usage);
  return std::unique_ptr<JobRuntimes>(std::move(runtimes));
}

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/scheduling/scheduled_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"
#include "simulator/placement/placement.h"
#include "simulator/routing/link_load.h"
#include "simulator/scheduling/job_runtimes.h"

namespace fathom::simulator {
namespace {

constexpr double kShortestBounded_s = 10;

std::vector<HostId> hosts_of(const Placement& placement) {
  std::vector<HostId> hosts = placement;
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

class Scheduling {
 public:
  Scheduling(const Network& network, const std::vector<Arrival>& arrivals,
             const SystemChoice& choice)
      : network_(network),
        arrivals_(arrivals),
        choice_(choice),
        total_slots_(network.total_slots()),
        free_slots_(total_slots_),
        busy_(network.host_count(), 0),
        expected_free_s_(network.host_count(), 0),
        use_sum_(network),
        result_{std::vector<JobOutcome>(arrivals.size()),
                {},
                {},
                {},
                {},
                {},
                {},
                {},
                {},
                LinkLedger(network),
                nullptr,
                0} {
    for (HostId host = 0; host < network.host_count(); ++host) {
      least_slots_ = std::min(least_slots_, network.slots(host));
      most_slots_ = std::max(most_slots_, network.slots(host));
    }
  }

  base::Result<ScheduledRun> run() {
    if (auto ready = prepare(); !ready) return ready.error();
    sample();
    for (;;) {
      const double next_s = std::min(next_arrival_s(), runtimes_->next_event_s());
      if (next_s == JobRuntimes::kNever || next_s > choice_.until_s) break;
      if (auto shown = show_until(next_s, false); !shown) return shown.error();
      now_s_ = next_s;
      if (auto done = happen(); !done) return done.error();
    }
    return finish();
  }

 private:
  struct Running {
    RunningJob seen;  // as the scheduler sees it
    std::vector<HostId> hosts;
    Placement placement;
    JobUse use;
  };

  base::Status prepare() {
    for (const Arrival& arrival : arrivals_) {
      if (static_cast<std::uint64_t>(arrival.job->ranks) <= total_slots_) continue;
      return base::Error{"job '" + arrival.job->name + "' has " +
                         std::to_string(arrival.job->ranks) + " processes; cluster '" +
                         network_.name() + "' has " + std::to_string(total_slots_) +
                         " slots; take a larger cluster, or " + kMoreSlots};
    }
    auto router = choice_.router->make(network_, {choice_.seed});
    if (!router) return router.error();
    router_ = std::move(*router);
    scheduler_ = choice_.scheduler->make();
    if (choice_.model == RunModel::kLoad) {
      runtimes_ = make_fixed_runtimes();
      return base::Done{};
    }
    result_.usage = std::make_unique<LinkUsage>(network_.link_count(), kUsageIntervals, 1e-3);
    auto flows = make_flow_runtimes(network_, *choice_.router, choice_.seed, result_.usage.get());
    if (!flows) return flows.error();
    runtimes_ = std::move(*flows);
    return base::Done{};
  }

  double next_arrival_s() const {
    return arrived_ < arrivals_.size() ? arrivals_[arrived_].submit_s : JobRuntimes::kNever;
  }

  // All events of this moment: ends, then arrivals, then starts. In this order, so that a job can
  // start on hosts that are freed at the moment of its arrival.
  base::Status happen() {
    bool changed = false;
    while (runtimes_->next_event_s() <= now_s_) {
      const auto ended = runtimes_->step();
      if (!ended) return ended.error();
      for (const EndedJob& job : *ended) end(job);
      changed = changed || !ended->empty();
    }
    for (; next_arrival_s() <= now_s_; ++arrived_) {
      queue_.push_back(queued(arrived_));
      changed = true;
    }
    if (!changed) return base::Done{};  // only flows began or ended inside a job
    if (auto started = start_all(); !started) return started;
    sample();
    constexpr std::size_t kMomentsBetween = 4096;
    if (choice_.progress && ++moments_ % kMomentsBetween == 0) choice_.progress(arrived_);
    return base::Done{};
  }

  QueuedJob queued(std::size_t number) const {
    if (arrivals_[number].given_placement) return bound(number);
    const auto ranks = static_cast<std::uint64_t>(arrivals_[number].job->ranks);
    // A job has its hosts to itself. Which ones it will get is not known here, so hosts of different
    // sizes only give an upper limit.
    const std::uint64_t whole_hosts = least_slots_ == most_slots_
                                          ? (ranks + most_slots_ - 1) / most_slots_ * most_slots_
                                          : ranks + most_slots_ - 1;
    return {static_cast<std::uint32_t>(number), ranks, std::min(whole_hosts, total_slots_),
            arrivals_[number].request_s};
  }

  QueuedJob bound(std::size_t number) const {
    std::uint64_t slots = 0;
    for (const HostId host : hosts_of(*arrivals_[number].given_placement))
      slots += network_.slots(host);
    return {static_cast<std::uint32_t>(number), slots, slots, arrivals_[number].request_s, true};
  }

  // When the placement's hosts are free; an overdue job counts as ending just after now.
  double expected_free_s(const Placement& placement) const {
    double free_s = 0;
    for (const HostId host : placement) {
      if (!busy_[host]) continue;
      const double soon_s = std::nextafter(now_s_, JobRuntimes::kNever);
      free_s = std::max({free_s, soon_s, expected_free_s_[host]});
    }
    return free_s;
  }

  base::Status start_all() {
    for (;;) {
      std::vector<RunningJob> seen;
      for (const auto& [number, job] : running_) seen.push_back(job.seen);
      for (QueuedJob& job : queue_) {
        if (job.is_bound) job.not_before_s = expected_free_s(*arrivals_[job.job].given_placement);
      }
      const auto position = scheduler_->next({now_s_, free_slots_, queue_, seen});
      if (!position) return base::Done{};
      const std::uint32_t number = queue_[*position].job;
      queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(*position));
      if (auto started = start(number); !started) {
        return base::Error{arrivals_[number].job->name + ": " + started.error().message};
      }
    }
  }

  base::Status start(std::uint32_t number) {
    const Arrival& arrival = arrivals_[number];
    Running job;
    const std::uint64_t seed = base::splitmix64(choice_.seed) + number;
    if (auto placed = place(arrival, seed, job); !placed) return placed;
    if (auto routed = route(*arrival.job, job); !routed) return routed;
    auto started = runtimes_->start(
        {number, arrival.job.get(), &job.placement, now_s_, arrival.duration_s, arrival.phases},
        result_.links.now());
    if (!started) return started;
    const auto alone_s = runtimes_->alone_s();
    if (!alone_s) return alone_s.error();
    result_.jobs[number].alone_s = *alone_s;
    result_.links.add(now_s_, job.use);
    take_hosts(job, now_s_ + arrival.request_s);
    result_.jobs[number].start_s = now_s_;
    result_.jobs[number].hosts = static_cast<std::uint32_t>(job.hosts.size());
    running_.emplace_back(number, std::move(job));
    return base::Done{};
  }

  base::Status place(const Arrival& arrival, std::uint64_t seed, Running& job) {
    if (arrival.given_placement) {
      job.placement = *arrival.given_placement;
      job.hosts = hosts_of(job.placement);
      return base::Done{};
    }
    auto hosts = select_hosts(*choice_.selector, {network_, arrival.job->ranks, busy_, seed});
    if (!hosts) return hosts.error();
    job.hosts = std::move(*hosts);
    const PlacementRow& row = arrival.placement ? *arrival.placement : *choice_.placement;
    auto placement = place_processes(row, {network_, *arrival.job, job.hosts, seed});
    if (!placement) return placement.error();
    job.placement = std::move(*placement);
    return base::Done{};
  }

  base::Status route(const Job& what, Running& job) {
    const auto granularity =
        choice_.router->per_flow ? Granularity::kProcesses : Granularity::kHosts;
    const std::vector<Demand> demands = demands_of(what, job.placement, granularity);
    use_sum_.start(demands);
    auto routed = router_->route(demands, result_.links.now(), use_sum_);
    job.use = use_sum_.finish();
    return routed;
  }

  void take_hosts(Running& job, double expected_end_s) {
    job.seen.expected_end_s = expected_end_s;
    for (const HostId host : job.hosts) {
      busy_[host] = 1;
      expected_free_s_[host] = expected_end_s;
      job.seen.takes += network_.slots(host);
    }
    free_slots_ -= job.seen.takes;
  }

  void end(const EndedJob& ended) {
    result_.jobs[ended.number].end_s = ended.end_s;
    const auto job = std::find_if(running_.begin(), running_.end(),
                                  [&](const auto& one) { return one.first == ended.number; });
    result_.links.remove(now_s_, job->second.use);
    for (const HostId host : job->second.hosts) busy_[host] = 0;
    free_slots_ += job->second.seen.takes;
    running_.erase(job);
  }

  void sample() {
    const LoadFigures figures = load_figures(network_, result_.links.now(), choice_.host_links);
    SystemState state{now_s_,
                      figures.max_traffic,
                      figures.max_congestion,
                      figures.mean_congestion,
                      figures.congestion_deviation,
                      figures.max_flows,
                      static_cast<std::uint32_t>(queue_.size()),
                      static_cast<std::uint32_t>(running_.size()),
                      static_cast<double>(total_slots_ - free_slots_)};
    for_each_statistic(
        state, [&](TimeWeighted& over_time, double value) { over_time.change(now_s_, value); });
    result_.timeline.push_back(state);
  }

  template <typename Do>
  void for_each_statistic(const SystemState& state, Do what) {
    what(result_.max_congestion, state.max_congestion);
    what(result_.mean_congestion, state.mean_congestion);
    what(result_.congestion_deviation, state.congestion_deviation);
    what(result_.max_flows, state.max_flows);
    what(result_.waiting, state.waiting);
    what(result_.running, state.running);
    what(result_.busy_slots, state.busy_slots);
  }

  // Emits snapshots due before `time_s`, or also at `time_s` if nothing more happens then.
  base::Status show_until(double time_s, bool inclusive) {
    const auto is_due = [&](double due_s) {
      return due_s < time_s || (inclusive && due_s == time_s);
    };
    for (; shown_ < choice_.snapshots_s.size() && is_due(choice_.snapshots_s[shown_]); ++shown_) {
      auto done = choice_.snapshot(choice_.snapshots_s[shown_], result_.links.now());
      if (!done) return done;
    }
    return base::Done{};
  }

  base::Result<ScheduledRun> finish() {
    const double end_s = std::isfinite(choice_.until_s) ? choice_.until_s : now_s_;
    if (auto shown = show_until(end_s, true); !shown) return shown.error();
    for_each_statistic({}, [&](TimeWeighted& over_time, double) { over_time.finish(end_s); });
    result_.links.finish(end_s);
    if (result_.usage) result_.usage->bring_to(end_s);
    result_.end_s = end_s;
    return std::move(result_);
  }

  const Network& network_;
  const std::vector<Arrival>& arrivals_;
  const SystemChoice& choice_;
  std::uint32_t least_slots_ = kNoId, most_slots_ = 0;
  std::uint64_t total_slots_, free_slots_;
  std::vector<char> busy_;               // by host
  std::vector<double> expected_free_s_;  // by host; valid for busy hosts
  JobUseSum use_sum_;
  ScheduledRun result_;
  std::unique_ptr<Router> router_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<JobRuntimes> runtimes_;
  std::vector<QueuedJob> queue_;
  std::vector<std::pair<std::uint32_t, Running>> running_;  // in order of start
  std::size_t arrived_ = 0, shown_ = 0, moments_ = 0;
  double now_s_ = 0;
};

}  // namespace

double JobOutcome::slow_down(const Arrival& arrival) const {
  return run_s() > 0 ? response_s(arrival) / run_s() : 1;
}

double JobOutcome::bounded_slow_down(const Arrival& arrival) const {
  return std::max(1.0, response_s(arrival) / std::max(run_s(), kShortestBounded_s));
}

base::Result<ScheduledRun> run_scheduled(const Network& network,
                                         const std::vector<Arrival>& arrivals,
                                         const SystemChoice& choice) {
  return Scheduling(network, arrivals, choice).run();
}

}  // namespace fathom::simulator

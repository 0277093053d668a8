#include "simulator/phases.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace fathom::simulator {
namespace {

class Run {
 public:
  Run(FlowModel& model, std::span<const PhasedJob> jobs) : model_(model), jobs_(jobs) {}

  base::Result<std::vector<JobTime>> run() {
    times_.resize(jobs_.size());
    pending_.resize(jobs_.size());
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      if (auto checked = check(job); !checked) return checked.error();
      begin_next_phase(job, jobs_[job].arrival_s);
    }
    for (;;) {
      const double due_s = starts_.empty() ? FlowModel::kNever : starts_.front().first;
      const double event_s = model_.next_event_s();
      if (due_s == FlowModel::kNever && event_s == FlowModel::kNever) break;
      if (due_s <= event_s) {
        if (auto started = start_due(); !started) return started.error();
      } else {
        for (const EndedFlow& flow : model_.step()) flow_ended(flow);
      }
    }
    return std::move(times_);
  }

 private:
  using Start = std::pair<double, std::size_t>;  // when, job

  base::Status check(std::size_t job) const {
    double least = jobs_[job].arrival_s, sum = least;
    for (const Phase& phase : jobs_[job].phases) {
      least = std::min(least, phase.computation_s);
      sum += phase.computation_s;
    }
    if (least >= 0 && std::isfinite(sum)) return base::Done{};
    return base::Error{
        "job " + std::to_string(job) +
        " has an arrival or a computation time that is no number of seconds, zero or more"};
  }

  void begin_next_phase(std::size_t job, double at_s) {
    JobTime& time = times_[job];
    time.end_s = at_s;
    time.duration_s = at_s - jobs_[job].arrival_s;
    if (time.phases.size() == jobs_[job].phases.size()) return;
    starts_.emplace_back(at_s + jobs_[job].phases[time.phases.size()].computation_s, job);
    std::push_heap(starts_.begin(), starts_.end(), std::greater<>());
  }

  base::Status start_due() {
    const auto [at_s, job] = starts_.front();
    std::pop_heap(starts_.begin(), starts_.end(), std::greater<>());
    starts_.pop_back();
    const Phase& phase = jobs_[job].phases[times_[job].phases.size()];
    times_[job].phases.push_back({at_s, at_s});
    pending_[job] = phase.flows.size();
    if (phase.flows.empty()) begin_next_phase(job, at_s);
    for (const PhaseFlow& flow : phase.flows) {
      const double start_s = std::max(at_s, model_.now_s());
      if (auto started = model_.start({flow.route, flow.size_bytes, start_s, job}); !started)
        return started;
    }
    return base::Done{};
  }

  void flow_ended(const EndedFlow& flow) {
    const auto job = static_cast<std::size_t>(flow.tag);
    PhaseTime& phase = times_[job].phases.back();
    phase.end_s = std::max(phase.end_s, flow.end_s);
    if (--pending_[job] == 0) begin_next_phase(job, phase.end_s);
  }

  FlowModel& model_;
  std::span<const PhasedJob> jobs_;
  std::vector<JobTime> times_;
  std::vector<std::size_t> pending_;  // flows of each job's phase that have not ended
  std::vector<Start> starts_;         // heap of phases to come, earliest first
};

}  // namespace

base::Result<std::vector<JobTime>> run_together(FlowModel& model, std::span<const PhasedJob> jobs) {
  return Run(model, jobs).run();
}

base::Result<std::vector<double>> slow_downs(const std::vector<LinkSpeed>& links,
                                             std::span<const PhasedJob> jobs) {
  auto together_model = FlowModel::create(links);
  if (!together_model) return together_model.error();
  const auto together = run_together(*together_model, jobs);
  if (!together) return together.error();
  std::vector<double> result;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    auto model = FlowModel::create(links);
    const auto alone = run_together(*model, jobs.subspan(job, 1));
    if (!alone) return alone.error();
    const double alone_s = alone->front().duration_s;
    result.push_back(alone_s > 0 ? (*together)[job].duration_s / alone_s : 1.0);
  }
  return result;
}

}  // namespace fathom::simulator

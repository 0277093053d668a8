// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/flow/phases.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace fathom::simulator {
base::Status PhasedJobs::check(std::size_t number, const PhasedJob& job) const {
  double least = job.arrival_s, sum = least;
  for (const Phase& phase : job.phases) {
    least = std::min(least, phase.computation_s);
    sum += phase.computation_s;
  }
  if (least >= 0 && std::isfinite(sum)) return base::Done{};
  return base::Error{
      "job " + std::to_string(number) +
      " has an arrival or a computation time that is not a number of seconds, zero or more"};
}

base::Result<std::size_t> PhasedJobs::start(PhasedJob job) {
  const std::size_t number = jobs_.size();
  if (auto checked = check(number, job); !checked) return checked.error();
  if (job.phases.empty()) job.phases.emplace_back();  // so that it ends in a step like all others
  jobs_.push_back(std::move(job));
  times_.emplace_back();
  pending_.push_back(0);
  begin_next_phase(number, jobs_[number].arrival_s);
  return number;
}

double PhasedJobs::next_event_s() {
  const double due_s = starts_.empty() ? FlowModel::kNever : starts_.front().at_s;
  return std::min(due_s, model_.next_event_s());
}

base::Result<std::span<const std::size_t>> PhasedJobs::step() {
  ended_.clear();
  const double due_s = starts_.empty() ? FlowModel::kNever : starts_.front().at_s;
  if (due_s <= model_.next_event_s()) {
    if (auto started = start_due(); !started) return started.error();
  } else {
    for (const EndedFlow& flow : model_.step()) flow_ended(flow);
  }
  return std::span<const std::size_t>(ended_);
}

void PhasedJobs::begin_next_phase(std::size_t job, double at_s) {
  JobTime& time = times_[job];
  time.end_s = at_s;
  time.duration_s = at_s - jobs_[job].arrival_s;
  if (time.phases.size() == jobs_[job].phases.size()) {
    ended_.push_back(job);
    jobs_[job].phases = {};
    return;
  }
  starts_.push_back({at_s + jobs_[job].phases[time.phases.size()].computation_s, job});
  std::push_heap(starts_.begin(), starts_.end(), std::greater<>());
}

base::Status PhasedJobs::start_due() {
  const Start next = starts_.front();
  std::pop_heap(starts_.begin(), starts_.end(), std::greater<>());
  starts_.pop_back();
  const Phase& phase = jobs_[next.job].phases[times_[next.job].phases.size()];
  times_[next.job].phases.push_back({next.at_s, next.at_s});
  pending_[next.job] = phase.flows.size();
  for (const PhaseFlow& flow : phase.flows) {
    const double start_s = std::max(next.at_s, model_.now_s());
    auto started = model_.start({flow.route, flow.size_bytes, start_s, next.job});
    if (!started) return started;
  }
  if (phase.flows.empty()) begin_next_phase(next.job, next.at_s);
  return base::Done{};
}

void PhasedJobs::flow_ended(const EndedFlow& flow) {
  const auto job = static_cast<std::size_t>(flow.tag);
  PhaseTime& phase = times_[job].phases.back();
  phase.end_s = std::max(phase.end_s, flow.end_s);
  if (--pending_[job] == 0) begin_next_phase(job, phase.end_s);
}

base::Result<std::vector<JobTime>> run_together(FlowModel& model, std::span<const PhasedJob> jobs) {
  PhasedJobs running(model);
  for (const PhasedJob& job : jobs) {
    if (auto started = running.start(job); !started) return started.error();
  }
  while (running.next_event_s() != FlowModel::kNever) {
    if (auto ended = running.step(); !ended) return ended.error();
  }
  std::vector<JobTime> times;
  for (std::size_t job = 0; job < jobs.size(); ++job) times.push_back(running.time(job));
  return times;
}

}  // namespace fathom::simulator

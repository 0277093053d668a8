// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/engine.h"

#include <algorithm>
#include <utility>

namespace fathom::analysis {

base::Result<std::unique_ptr<Engine>> Engine::open(const std::string& run_directory,
                                                   Transport* transport) {
  auto trace = trace::Trace::open(run_directory);
  if (!trace) return trace.error();
  return std::unique_ptr<Engine>(new Engine(std::move(*trace), transport));
}

// Another mapping owns other processes, and hidden messages change the numbers of steps. So nothing
// may remain that refers to the old job.
void Engine::start_anew() {
  remote_.reset();
  wanted_.clear();
  job_.reset();
}

void Engine::set_parallel(bool on) {
  if (on != parallel_) start_anew();
  parallel_ = on;
}

void Engine::set_mapping(MappingStrategy strategy) {
  options_.mapping = std::move(strategy);
  start_anew();
}

void Engine::set_hidden_messages(bool on) {
  if (on != options_.hidden_messages) start_anew();
  options_.hidden_messages = on;
}

base::Result<JoinedJob*> Engine::job() {
  if (!job_) {
    JoinOptions options = options_;
    if (!parallel())
      options.mapping =
          neighbours_together;  // a custom strategy is for several; one process owns everything
    auto joined = join_job(trace_, transport(), options);
    if (!joined) return joined.error();
    job_ = std::move(*joined);
    remote_ = std::make_unique<RemoteSteps>(*job_);
    for (const auto& [process, step] : wanted_) remote_->want(process, step);
    wanted_.clear();
  }
  return job_.get();
}

base::Result<std::vector<std::uint64_t>> Engine::loads() {
  const auto joined = job();
  if (!joined) return joined.error();
  std::vector<std::uint64_t> events;
  for (const ProcessSummary& process : job_->summary().processes) events.push_back(process.events);
  return load_of_owners(job_->mapping(), events, job_->transport().size());
}

void Engine::on(Direction direction, Moment moment, const std::string& name, Callback callback) {
  callbacks_.push_back({direction, moment, name, std::move(callback)});
}

bool Engine::remove(Direction direction, const std::string& name) {
  return std::erase_if(callbacks_, [&](const Named& one) {
           return one.direction == direction && one.name == name;
         }) > 0;
}

base::Result<std::uint64_t> Engine::run(Direction direction) {
  const auto joined = job();
  if (!joined) return joined.error();
  std::vector<std::vector<const Callback*>> wanted(kMoments);
  for (const Named& one : callbacks_) {
    if (one.direction == direction)
      wanted[static_cast<std::size_t>(one.moment)].push_back(&one.callback);
  }
  std::uint64_t called = 0;
  CausalOrder order(*job_, direction);
  for (Visit visit; order.next(visit);) {
    for (const Callback* callback : wanted[static_cast<std::size_t>(visit.moment)]) {
      (*callback)(visit, job_->steps().at(visit.process, visit.step));
      ++called;
    }
  }
  return called;
}

void Engine::want(std::uint32_t process, std::uint32_t step) {
  if (remote_) return remote_->want(process, step);
  wanted_.emplace_back(process, step);
}

base::Status Engine::fetch() {
  const auto joined = job();
  if (!joined) return joined.error();
  remote_->fetch();
  return base::Done{};
}

void Engine::forget() {
  if (remote_) remote_->forget();
}

const Step* Engine::step(std::uint32_t process, std::uint32_t number) const {
  return remote_ ? remote_->find(process, number) : nullptr;
}

}  // namespace fathom::analysis

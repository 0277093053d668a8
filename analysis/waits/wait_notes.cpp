// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/waits/wait_notes.h"

#include <optional>
#include <vector>

#include "analysis/engine/call_wait.h"
#include "analysis/engine/parcels.h"
#include "analysis/engine/rounds.h"
#include "base/flat_map.h"

namespace fathom::analysis {
namespace {

struct Target {
  std::uint32_t process = 0, step = 0;
};

class Forward {
 public:
  Forward(JoinedJob& job, Parcels& parcels, std::uint32_t process)
      : job_(job),
        parcels_(parcels),
        process_(process),
        size_(job.steps().size(process)),
        open_(job, process) {}

  // Processes some steps; false at the end.
  bool go_on(std::uint32_t steps) {
    const std::uint32_t until = size_ - at_ < steps ? size_ : at_ + steps;
    for (; at_ < until; ++at_) {
      if (at_ % StepFile::kBlockSteps == 0) {
        job_.steps().touched(StepFile::kBlockSteps);
        job_.steps().will_write(process_, at_);
      }
      take(at_, job_.steps().at(process_, at_));
    }
    if (at_ < size_) return true;
    finish_before(~std::uint64_t{0});
    return false;
  }

 private:
  void take(std::uint32_t number, Step& step) {
    if (step.kind == StepKind::kCall) {
      finish_before(step.time_ns);
      const Line& line = line_of(step);
      step.note = line.waited_ns;
      step.call = line.last_of_all;
      return;
    }
    open_.add(number, step);
  }

  // Calls left by then have all their steps.
  void finish_before(std::uint64_t time_ns) {
    const StepFile& steps = job_.steps();
    open_.close_if(
        [&](std::uint32_t call) {
          return time_ns == ~std::uint64_t{0} || steps.at(process_, call).end_ns <= time_ns;
        },
        [this](const CallWait& call) { finish(call); });
  }

  void finish(const CallWait& call) {
    StepFile& steps = job_.steps();
    const Wait wait = call.wait();
    Line& line = line_of(steps.at(process_, call.call()));
    if (wait.ns > 0) {
      const Meeting* met = line.met.find(wait.culprit);
      steps.at(process_, wait.part).note = packed(met ? *met : Meeting{});
      line.waited_ns += wait.ns;
      blame({wait.culprit, wait.culprit_step});
    }
    steps.at(process_, call.call()).note = line.waited_ns;
    for (const std::uint32_t number : call.completed()) {
      const Step& part = steps.at(process_, number);
      if (part.kind != StepKind::kCollective) {
        line.met[part.partner] = {call.call(), part.partner_step};
      } else if (joins_all(part)) {
        line.last_of_all = number;
      }
    }
  }

  bool joins_all(const Step& collective) const {
    const JobFacts& facts = job_.facts();
    const Flow flow = facts.functions[job_.steps().at(process_, collective.call).number].flow;
    return (flow == Flow::kBarrier || flow == Flow::kAllToAll) && !collective.has(kByRequest) &&
           facts.members[static_cast<std::size_t>(collective.communicator)].size() ==
               facts.definitions.processes.size();
  }

  // What is known about one thread so far.
  struct Line {
    base::FlatMap<std::uint64_t, Meeting> met;  // by process
    std::uint32_t last_of_all = kNobody;        // kCollective
    std::uint64_t waited_ns = 0;
  };
  Line& line_of(const Step& call) {
    if (lines_.size() <= call.thread) lines_.resize(call.thread + std::size_t{1});
    return lines_[call.thread];
  }

  void blame(const Target& target);

  JoinedJob& job_;
  Parcels& parcels_;
  std::uint32_t process_, size_, at_ = 0;
  OpenWaits open_;
  std::vector<Line> lines_;  // by thread
};

// Marks the other process's call as one that will get a share of the blame.
void expect(StepFile& steps, const Target& target) {
  const std::uint32_t call = steps.at(target.process, target.step).posted;
  if (call != kNobody) ++steps.at(target.process, call).blamed;
}

void Forward::blame(const Target& target) {
  if (job_.is_own(target.process)) return expect(job_.steps(), target);
  parcels_.send(job_.mapping()[target.process], 0, target);
}

// Processes the job's processes one after the other.
class NotesPass : public Pass {
 public:
  explicit NotesPass(JoinedJob& job)
      : job_(job), parcels_(job.transport().size()), left_(job.own()) {}

  Stall work() override {
    if (!process_ && !left_.empty()) {
      process_.emplace(job_, parcels_, left_.back());
      left_.pop_back();
    }
    if (process_ && !process_->go_on(kStepsPerRound)) process_.reset();
    Stall stall;
    stall.more = process_ || !left_.empty();
    return stall;
  }
  Parcels& parcels() override { return parcels_; }
  void open(Received& received) override {
    while (received.more()) {
      received.kind();
      expect(job_.steps(), received.take<Target>());
    }
  }

 private:
  // A limit, so that blame for other analysis processes does not pile up to the end of a long trace.
  static constexpr std::uint32_t kStepsPerRound = 1 << 20;

  JoinedJob& job_;
  Parcels parcels_;
  std::vector<std::uint32_t> left_;
  std::optional<Forward> process_;
};

}  // namespace

void note_waits(JoinedJob& job) {
  NotesPass pass(job);
  run_passes(job.transport(), {&pass});
}

}  // namespace fathom::analysis

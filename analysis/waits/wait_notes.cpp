// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/waits/wait_notes.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "analysis/engine/awaited_receives.h"
#include "analysis/engine/call_wait.h"
#include "analysis/engine/parcels.h"
#include "analysis/engine/rounds.h"

namespace fathom::analysis {
namespace {

class Forward {
 public:
  Forward(JoinedJob& job, Parcels& parcels, WorkTally& work, std::uint32_t process)
      : job_(job),
        parcels_(parcels),
        work_(work),
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
    finish_before(CallWait::kNever);
    work_.end(job_, process_);
    return false;
  }

 private:
  void take(std::uint32_t number, Step& step) {
    if (step.kind != StepKind::kCall) return open_.add(number, step);
    finish_before(step.time_ns);
    step.note = 0;
    step.call = kNobody;
    step.flags &= static_cast<std::uint8_t>(~(kWorkBlamed | kCallBlamed));
    if (step.thread != 0 || step.has(kNested)) return;
    if (last_call_ != kNobody) work_.add(job_.steps().at(process_, last_call_), step);
    last_call_ = number;
  }

  void finish_before(std::uint64_t time_ns) {
    open_.close_left_by(time_ns, [this](const CallWait& call) { finish(call); });
  }

  void finish(const CallWait& seen) {
    StepFile& steps = job_.steps();
    Step& call = steps.at(process_, seen.call());
    find_wrong_order(seen);
    const Wait wait = seen.wait();
    if (wait.ns == 0) return;
    call.note = wait.ns;
    call.call = wait.part;
    call.wait_kind = static_cast<std::uint32_t>(wait.kind);
    Step& part = steps.at(process_, wait.part);
    part.note = std::uint64_t{seen.call()} + 1;
    if (part.kind == StepKind::kSend) mark_awaited(job_, part, parcels_);
    if (wait.kind == WaitKind::kLateSender) late_sender_ = seen.call();
  }

  // The order was wrong if a message that the next call receives had been sent before the one that
  // waited was entered.
  void find_wrong_order(const CallWait& seen) {
    StepFile& steps = job_.steps();
    const std::uint64_t sent_ns = seen.first_sent_ns();
    if (sent_ns == CallWait::kNever) return;
    if (late_sender_ != kNobody) {
      Step& waited = steps.at(process_, late_sender_);
      if (sent_ns < waited.time_ns)
        waited.wait_kind = static_cast<std::uint32_t>(WaitKind::kWrongOrder);
    }
    late_sender_ = kNobody;
  }

  JoinedJob& job_;
  Parcels& parcels_;
  WorkTally& work_;
  std::uint32_t process_, size_, at_ = 0;
  std::uint32_t last_call_ = kNobody;  // of the first thread, not inside another
  OpenWaits open_;
  std::uint32_t late_sender_ = kNobody;  // the last call that received, if it waited for a sender
};

// Processes the job's processes one after the other.
class NotesPass : public Pass {
 public:
  NotesPass(JoinedJob& job, WorkTally& work)
      : job_(job), work_(work), parcels_(job.transport().size()), left_(job.own()) {}

  Stall work() override {
    if (!process_ && !left_.empty()) {
      process_.emplace(job_, parcels_, work_, left_.back());
      left_.pop_back();
    }
    if (process_ && !process_->go_on(kStepsPerRound)) process_.reset();
    Stall stall;
    stall.more = process_ || !left_.empty();
    return stall;
  }
  Parcels& parcels() override { return parcels_; }
  void open(Received& received) override {
    while (received.more()) take_awaited_mark(job_, received);
  }

 private:
  // A limit, so that marks for other analysis processes do not pile up to the end of a long trace.
  static constexpr std::uint32_t kStepsPerRound = 1 << 20;

  JoinedJob& job_;
  WorkTally& work_;
  Parcels parcels_;
  std::vector<std::uint32_t> left_;
  std::optional<Forward> process_;
};

}  // namespace

void note_waits(JoinedJob& job, WorkTally& work) {
  NotesPass pass(job, work);
  run_passes(job.transport(), {&pass});
}

}  // namespace fathom::analysis

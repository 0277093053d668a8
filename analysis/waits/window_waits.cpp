// SPDX-License-Identifier: BSD-3-Clause
// The waits of a window of time without their causes: what wait_notes.cpp and wait_blame.cpp find of them, at the
// cost of the window.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/engine/call_wait.h"
#include "analysis/engine/parcels.h"
#include "analysis/waits/wait_steps.h"
#include "analysis/waits/wait_tallies.h"
#include "base/process/parallel.h"

namespace fathom::analysis {
namespace {

struct SeenWait {
  std::uint32_t call = kNobody;
  Wait wait;
};

// The calls of one process that wait in the window, forward.
class WindowWaits {
 public:
  WindowWaits(const JoinedJob& job, const WaitScope& scope, std::uint32_t process)
      : job_(job), scope_(scope), process_(process), open_(job, process) {}

  std::vector<SeenWait> find() {
    const StepFile& steps = job_.steps();
    const StepRange range = job_.steps_in(process_, scope_.from_ns, scope_.to_ns);
    const std::uint32_t size = steps.size(process_);
    std::uint32_t at = range.begin;
    for (;; ++at) {
      if (at == range.end) finish_before(range.known_until_ns);
      // Which kind the last wait for a sender is, the next call that receives says.
      if (at >= size || (at >= range.end && !late_sender_)) break;
      if (at % StepFile::kBlockSteps == 0) StepFile::touched(StepFile::kBlockSteps);
      const Step& step = steps.at(process_, at);
      if (step.kind != StepKind::kCall) {
        open_.add(at, step);
      } else {
        finish_before(step.time_ns);
      }
    }
    if (at >= size) finish_before(CallWait::kNever);
    StepFile::touched(StepFile::kBlockSteps);
    return std::move(found_);
  }

 private:
  void finish_before(std::uint64_t time_ns) {
    open_.close_left_by(time_ns, [this](const CallWait& call) { finish(call); });
  }

  void finish(const CallWait& seen) {
    const Step& call = job_.steps().at(process_, seen.call());
    find_wrong_order(seen);
    const Wait wait = seen.wait();
    if (in_scope_ns(scope_, process_, call, wait.ns) == 0) return;
    if (wait.kind == WaitKind::kLateSender) late_sender_ = found_.size();
    found_.push_back({seen.call(), wait});
  }

  // As in wait_notes.cpp.
  void find_wrong_order(const CallWait& seen) {
    const StepFile& steps = job_.steps();
    const std::uint64_t sent_ns = seen.first_sent_ns();
    if (sent_ns == CallWait::kNever) return;
    if (late_sender_ && sent_ns < steps.at(process_, found_[*late_sender_].call).time_ns)
      found_[*late_sender_].wait.kind = WaitKind::kWrongOrder;
    late_sender_.reset();
  }

  const JoinedJob& job_;
  const WaitScope& scope_;
  const std::uint32_t process_;
  OpenWaits open_;
  std::vector<SeenWait> found_;
  std::optional<std::size_t>
      late_sender_;  // the last call that received, if it waited for a sender
};

}  // namespace

JobWaits find_direct_waits(JoinedJob& job, const WaitScope& scope) {
  const std::vector<std::uint32_t>& own = job.own();
  std::vector<std::vector<SeenWait>> found(own.size());
  const auto find = [&](std::size_t i) {
    if (scope.processes == nullptr || (*scope.processes)[own[i]])
      found[i] = WindowWaits(job, scope, own[i]).find();
  };
  base::in_parallel(own.size(), find, threads_of(job.transport()));
  WaitTallies tallies(job);
  for (std::size_t i = 0; i < own.size(); ++i) {
    for (const SeenWait& seen : found[i]) {
      const Step& call = job.steps().at(own[i], seen.call);
      WaitKey key = key_of(job, own[i], call);
      key.culprit = seen.wait.culprit;
      key.kind = static_cast<std::uint32_t>(seen.wait.kind);
      tallies.add(key, in_scope_ns(scope, own[i], call, seen.wait.ns),
                  std::max(call.time_ns, scope.from_ns));
    }
  }
  JobWaits waits;
  waits.rows = gathered(job.transport(), tallies.wait_rows());
  sort_waits(waits.rows);
  return waits;
}

}  // namespace fathom::analysis

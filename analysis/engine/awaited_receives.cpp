// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/awaited_receives.h"

#include "analysis/engine/call_wait.h"

namespace fathom::analysis {
namespace {

struct Receive {
  std::uint32_t process = 0, step = 0;
};

void mark(StepFile& steps, const Receive& receive) {
  steps.at(receive.process, receive.step).flags |= kAwaited;
}

class Marker {
 public:
  Marker(JoinedJob& job, Parcels& parcels, std::uint32_t process)
      : job_(job), parcels_(parcels), process_(process), open_(job, process) {}

  // Backward: the completion of an operation comes before the call that completed it.
  void run() {
    const StepFile& steps = job_.steps();
    for (std::uint32_t number = steps.size(process_); number-- > 0;) {
      if (number % StepFile::kBlockSteps == 0) job_.steps().touched(StepFile::kBlockSteps);
      const Step& step = steps.at(process_, number);
      if (step.kind == StepKind::kCall) {
        close(number);
        continue;
      }
      open_.add(number, step);
      const std::uint32_t complete = completed_with(number, step);
      if (complete != kNobody && steps.at(process_, complete).has(kSynchronous)) tell(complete);
    }
  }

 private:
  void close(std::uint32_t call) {
    const CallWait* const seen = open_.find(call);
    if (seen == nullptr) return;
    const Wait wait = seen->wait();
    open_.close(call);
    if (wait.ns > 0 && job_.steps().at(process_, wait.part).kind == StepKind::kSend)
      tell(wait.part);
  }

  void tell(std::uint32_t send) {
    Step& step = job_.steps().at(process_, send);
    // A send may be reported twice, as synchronous and for its wait, so marked ones are skipped.
    if (!step.has(kJoined) || step.has(kAwaited)) return;
    mark_awaited(job_, step, parcels_);
  }

  JoinedJob& job_;
  Parcels& parcels_;
  std::uint32_t process_;
  OpenWaits open_;
};

}  // namespace

void mark_awaited_receives(JoinedJob& job) {
  Parcels parcels(job.transport().size());
  for (const std::uint32_t process : job.own()) Marker(job, parcels, process).run();
  for (const Transport::Bytes& bytes : job.transport().exchange(parcels.take())) {
    for (Received received(bytes); received.more();) take_awaited_mark(job, received);
  }
}

void mark_awaited(JoinedJob& job, Step& send, Parcels& parcels) {
  send.flags |= kAwaited;
  const Receive receive{send.partner, send.partner_step};
  if (job.is_own(receive.process)) return mark(job.steps(), receive);
  parcels.send(job.mapping()[receive.process], 0, receive);
}

void take_awaited_mark(JoinedJob& job, Received& received) {
  received.kind();
  mark(job.steps(), received.take<Receive>());
}

}  // namespace fathom::analysis

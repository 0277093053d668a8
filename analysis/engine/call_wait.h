// SPDX-License-Identifier: BSD-3-Clause
// How long one call waited for another process, and for which: a function of its joined steps
// alone.
//
// A call waits from its entry until the decisive moment at the other process, if that precedes its
// exit (equation (1) of docs/analysis.md). Definitions (Scalasca's unless noted):
//
//   late sender    the sending call was entered after the call that receives, or that waits for the
//                  receive
//   late receiver  the receive was posted after the entry of the call that sends, or that waits for
//                  the send, and that call had not been left before
//   collectives    see collectives.h
//   late post      a target posts after the entry of the call that begins or completes the access
//   late complete  an origin completes after the entry of the call that waits for it (epochs.h)
//
// A call that completes several operations waits for the last of them (MPI_Waitall) or the first
// (MPI_Waitany, MPI_Waitsome). The latter need not complete the first: from the decisive moment of
// any operation that they were given, there was something that could complete, and the rest is the
// transfer. A probe waits for the message that is received after it. Tests and probes that return at
// once wait only as a loop (kPolled, step.h): from the first that failed, for what the last one
// found. Calls that only post an operation never wait.
//
// A message's arrival ends its wait, whatever the other clock says. A call that had been left before
// the decisive moment did not wait for it: a broadcast of nothing need not wait for its root, nor a
// file operation that each process does alone for the others. A wait within the uncertainty of the
// two clocks does not count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "mpi/wait_kind.h"

namespace fathom::analysis {

using mpi::kWaitKinds;
using mpi::WaitKind;

struct Wait {
  std::uint64_t ns = 0;
  std::uint64_t decided_ns = 0;  // the decisive moment, on the other process's clock
  std::uint32_t part = kNobody;  // the decisive step: kSend, kReceive or kCollective
                                 // (of a probe, the kReceive that took the message)
  std::uint32_t culprit = kNobody, culprit_step = kNobody;
  WaitKind kind = WaitKind::kLateSender;
};

// What is known about one call. add() takes the steps that name the call, in any order.
class CallWait {
 public:
  CallWait(const JoinedJob& job, std::uint32_t process, std::uint32_t call)
      : job_(&job), process_(process), call_(call) {}

  std::uint32_t call() const { return call_; }
  // Begins anew with another call of the same process; keeps its memory.
  void restart(std::uint32_t call) {
    call_ = call;
    completed_.clear();
    given_.clear();
  }
  void add(std::uint32_t number, const Step& step);
  Wait wait() const;
  // When the first of the messages that the call has received was sent; kNever: it has received none.
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  std::uint64_t first_sent_ns() const;

  // The joined kSend, kReceive and kCollective steps that this call completed, and the kReceive of
  // a message that it found.
  const std::vector<std::uint32_t>& completed() const { return completed_; }

 private:
  Wait wait_for(std::uint32_t part) const;

  const JoinedJob* job_;
  std::uint32_t process_, call_;
  std::vector<std::uint32_t> completed_;
  std::vector<std::uint32_t> given_;  // the same of operations that it could have completed
};

// The open calls of one process, for code that visits its steps in either direction. Memory: those
// calls.
class OpenWaits {
 public:
  OpenWaits(const JoinedJob& job, std::uint32_t process) : job_(&job), process_(process) {}

  // Any step except a kCall; steps outside all calls are ignored.
  void add(std::uint32_t number, const Step& step);

  // What is known about the call; nullptr if nothing.
  const CallWait* find(std::uint32_t call) const;
  void close(std::uint32_t call);
  void clear() {
    for (CallWait& wait : open_) spare_.push_back(std::move(wait));
    open_.clear();
  }

  // Closes the calls that were left by then, which have all their steps; CallWait::kNever: all.
  template <typename Finish>
  void close_left_by(std::uint64_t time_ns, Finish finish) {
    const StepFile& steps = job_->steps();
    close_if([&](std::uint32_t call) { return steps.at(process_, call).end_ns <= time_ns; },
             finish);
  }

 private:
  // Closes the calls for which `ended(call)` holds, in the order they were added.
  template <typename Ended, typename Finish>
  void close_if(Ended ended, Finish finish) {
    for (std::size_t i = 0; i < open_.size();) {
      if (!ended(open_[i].call())) {
        ++i;
        continue;
      }
      finish(open_[i]);
      spare_.push_back(std::move(open_[i]));
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  const JoinedJob* job_;
  std::uint32_t process_;
  std::vector<CallWait> open_;
  std::vector<CallWait> spare_;  // of calls that were closed: most calls need memory
};

}  // namespace fathom::analysis

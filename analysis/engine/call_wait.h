// SPDX-License-Identifier: BSD-3-Clause
// How long one call waited for another process, and for which: a function of its steps alone, once
// they are joined.
//
// A call waits from the moment it is entered until the decisive moment at the other process, if
// that comes before it is left. Definitions (Scalasca's, but where said otherwise):
//   late sender    the call that sends was entered after that which receives, or that waits for the receive
//   late receiver  the receive was posted after the call that sends, or that waits for the send, was entered,
//                  and that call was not left before
//   collectives    collectives.h
// A call that completes several operations waits for the last of them (MPI_Waitall), or the first
// (MPI_Waitany, MPI_Waitsome); tests never wait. A message that arrives ends its wait whatever the
// other clock says. A wait within the uncertainty of the two clocks is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/engine/joined_job.h"

namespace fathom::analysis {

enum class WaitKind : std::uint8_t {
  kLateSender,
  kWrongOrder,
  kLateReceiver,
  kBarrier,
  kAllToAll,
  kEarlyReduce,
  kEarlyGather,
  kLateBroadcast,
  kEarlyScatter,
  kEarlyScan,
};
inline constexpr std::size_t kWaitKinds = 10;

struct Wait {
  std::uint64_t ns = 0;
  std::uint64_t decided_ns = 0;  // the decisive moment, by the other's clock
  std::uint32_t part = kNobody;  // the step that decided: kSend, kReceive or kCollective
  std::uint32_t culprit = kNobody, culprit_step = kNobody;
  WaitKind kind = WaitKind::kLateSender;
};

// What has been seen of one call. add() takes the steps that name the call, in any order.
class CallWait {
 public:
  CallWait(const JoinedJob& job, std::uint32_t process, std::uint32_t call)
      : job_(&job), process_(process), call_(call) {}

  std::uint32_t call() const { return call_; }
  void add(std::uint32_t number, const Step& step);
  Wait wait() const;

  // kSend, kReceive and kCollective steps, joined, that this call completed.
  const std::vector<std::uint32_t>& completed() const { return completed_; }

 private:
  const JoinedJob* job_;
  std::uint32_t process_, call_;
  std::vector<std::uint32_t> completed_;
};

// The calls of one process that are under way, for who goes over its steps in either direction.
// Memory: those calls.
class OpenWaits {
 public:
  OpenWaits(const JoinedJob& job, std::uint32_t process) : job_(&job), process_(process) {}

  // Any step but a call; what belongs to no call is left out.
  void add(std::uint32_t number, const Step& step);

  // What was seen of the call; nullptr if nothing was.
  const CallWait* find(std::uint32_t call) const;
  void close(std::uint32_t call);
  void clear() { open_.clear(); }

  // Calls of which `ended(call)` holds, in the order in which they were met.
  template <typename Ended, typename Finish>
  void close_if(Ended ended, Finish finish) {
    for (std::size_t i = 0; i < open_.size();) {
      if (!ended(open_[i].call())) {
        ++i;
        continue;
      }
      finish(open_[i]);
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

 private:
  const JoinedJob* job_;
  std::uint32_t process_;
  std::vector<CallWait> open_;
};

}  // namespace fathom::analysis

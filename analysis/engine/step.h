// SPDX-License-Identifier: BSD-3-Clause
// What one process did, as analyses want it: its calls, and what happened inside them, each joined
// with what other processes did to it. 64 bytes a step, so that the whole of a job fits a file and
// is gone through in both directions (step_file.h).
//
// Steps of a process are numbered from 0 in the order of time. A step inside a call stands behind
// that call and names it. What the fields hold, by kind:
//
//             time_ns       end_ns                       bytes          call        partner, partner_step
//   kCall     entered       left                         as given       -           phase; number of the call site
//   kSend     handed over   other posted its receive     of the message the call    receiver's process and its kReceive
//   kReceive  arrived       other entered its send call  of the message the call    sender's process and its kSend
//   kCollective entered     who decided entered (1)      first left (2) the call    who decided, and its kCollective
//   kDone     completed     -                            -              the wait    -; the step that completed
//
// (1) The member that this one could not go on without: of an N-to-N the last to enter, for a broadcast the
//     root, for the root of a reduction the last of the others (collectives.h).
// (2) When the first of all members left; 0 if it is non-blocking.
// `posted` is the call that began it: of a kReceive the one that posted it, of others that which
// they are inside; kNobody outside of all calls. `note` and `blamed` are the wait states'
// (wait_steps.h), 0 until then. A kReceive stands where the message arrived; if it belongs to a
// request the program waits for a kDone later (flag kByRequest). So does a kSend or kCollective of
// a non-blocking call.
#pragma once

#include <cstdint>

namespace fathom::analysis {

enum class StepKind : std::uint8_t { kCall, kSend, kReceive, kCollective, kDone, kLost };

inline constexpr std::uint32_t kNobody =
    ~std::uint32_t{0};  // no process, no step, no site, no phase

enum StepFlag : std::uint8_t {
  kNested = 1,        // kCall: inside another call of MPI
  kCut = 2,           // kCall: no leave was recorded; end_ns is the process's last moment
  kByRequest = 4,     // belongs to a request: a kDone follows when it completes
  kHidden = 8,        // a message of the library's own, inside a collective and the like
  kJoined = 16,       // kSend, kReceive: the other end is known. kCollective: all members are
  kCancelled = 32,    // kDone
  kSynchronous = 64,  // kSend: in MPI_Ssend and its kin, which wait for the receiver at any length
  kAwaited =
      128,  // kSend, kReceive: the send waited for the receive to be posted (awaited_receives.h); 0 until then
};

struct Step {
  std::uint64_t time_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t note = 0;
  std::uint32_t call = kNobody;
  std::uint32_t posted = kNobody;
  std::uint32_t partner = kNobody;
  std::uint32_t partner_step = kNobody;
  std::int32_t communicator = -1;
  std::uint32_t number =
      0;  // kCall: function; kSend, kReceive: tag; kCollective: sequence in its communicator
  std::uint32_t blamed = 0;
  std::uint16_t thread = 0;
  StepKind kind = StepKind::kCall;
  std::uint8_t flags = 0;

  bool has(StepFlag flag) const { return (flags & flag) != 0; }
};
static_assert(sizeof(Step) == 64);

// The kSend, kReceive or kCollective that is complete with this step of its process, whose number
// is `number`: what a kDone names, and itself where it belongs to no request. kNobody: none.
inline std::uint32_t completed_with(std::uint32_t number, const Step& step) {
  if (step.kind == StepKind::kDone) return step.has(kCancelled) ? kNobody : step.partner_step;
  const bool part = step.kind == StepKind::kSend || step.kind == StepKind::kReceive ||
                    step.kind == StepKind::kCollective;
  return part && !step.has(kByRequest) ? number : kNobody;
}

}  // namespace fathom::analysis

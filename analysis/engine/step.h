// SPDX-License-Identifier: BSD-3-Clause
// What one process did, as analyses need it: its calls, and what happened inside them, joined with
// the matching steps of other processes. 64 bytes per step, so that a whole job fits into a file
// and can be visited in both directions (step_file.h).
//
// Steps of a process are numbered from 0 in order of time. A step inside a call comes after that
// call and names it. The fields by kind:
//
//               time_ns      end_ns             bytes      call      partner, partner_step
//   kCall       entered      left               as passed  -         phase; number of the call site
//   kSend       handed over  other posted its   of the     the call  receiver's process and its
//                            receive            message              kReceive
//   kReceive    arrived      other entered its  of the     the call  sender's process and its
//                            send call          message              kSend
//   kCollective entered      decider entered    first      the call  decider's process and its
//                            (1)                left (2)             kCollective
//   kDone       completed    -                  -          the wait  -; the step that completed
//   kGiven      wait left    -                  -          the wait  -; what it may complete (5)
//   kProbe      found        -                  -          the probe -; what it found (3)
//
// (1) The decider is the member that this one had to wait for: the last to enter for N-to-N, the
// root for a broadcast, the last of the others for the root of a reduction (collectives.h).
//
// (2) When the first of all members left; 0 if non-blocking.
//
// (3) The kReceive that took the message; of several probes that found one message, the first.
// MPI_Request_get_status finds the kReceive, kSend or kCollective that is complete.
//
// (4) MPI_PROC_NULL as root; or one that a member left before the last had entered, such as a file
// operation in which each process writes for itself.
//
// (5) A request that MPI_Waitany or MPI_Waitsome could have completed and left active; kNobody if
// it never receives its message.
//
// (6) Something else that a call waits for, of the call that names it: MPI_Win_start for MPI_Win_post
// (epochs.h), MPI_Win_lock for the unlock of another (lock_order.h). kHidden too. The kSend is where the
// one enters its call, or leaves it if it may have waited itself, the kReceive where the other leaves
// its own; the tag is 0, or kAboutLock. It is joined only if that call was left after the other had been
// entered. Several may wait for one unlock: the `bytes` of its kSend say how many, if not 0, its partner
// is the first that was left, and the `bytes` of each kReceive name the next (NextHearer).
//
// (7) Of a blocking one, or of a non-blocking one: its receives then complete with the collective's
// request. A process to which nothing is sent in the call that begins the collective, and which sends
// nothing itself, completes them where they arrive.
//
// Consecutive tests and probes of a thread that failed, and the one that ends them, are one kCall
// with kPolled, from the first that failed; function and call site are those of the last. Between
// two of them the thread made no other call, and at most mpi::kLongestPoll_ns passed.
//
// `communicator` of a kCollective may be JobFacts::job(); `object` is 0 if its place is in the
// communicator's own sequence, and otherwise names the window or file (step_recorder.h), or the
// persistent collective that the call has started: PersistentName.
//
// `posted` is the call that began the step: for a kReceive the call that posted it, otherwise the
// enclosing call; kNobody outside all calls. `note`, `wait_kind` and a kCall's `call` belong to
// the analysis at work (wait_notes.h, changed_run.h). A kReceive is placed where the message arrived. If it
// belongs to a request that the program waits for, a kDone follows later (flag kByRequest);
// likewise for a kSend or kCollective of a non-blocking call.
//
// Flags that have the same value never belong to the same kind.
#pragma once

#include <cstdint>

namespace fathom::analysis {

// In which steps are visited.
enum class Direction : std::uint8_t { kForward, kBackward };

enum class StepKind : std::uint8_t {
  kCall,
  kSend,
  kReceive,
  kCollective,
  kDone,
  kLost,
  kProbe,
  kGiven
};

inline constexpr std::uint32_t kNobody =
    ~std::uint32_t{0};  // no process, no step, no site, no phase

enum StepFlag : std::uint8_t {
  kNested = 1,       // kCall: inside another MPI call
  kNeighbor = 1,     // kSend, kReceive: the hidden message of a neighbourhood collective (7)
  kCut = 2,          // kCall: no leave was recorded; end_ns is the process's last event
  kProbed = 2,       // kReceive, kSend, kCollective: a probe has found it; a kProbe names this step
  kPolled = 4,       // kCall: several calls, of which all but the last failed
  kByRequest = 4,    // belongs to a request: a kDone follows on completion
  kWorkBlamed = 8,   // kCall: others waited for the work before it (analysis/waits/wait_causes.h)
  kHidden = 8,       // a message of the library itself, inside a collective for example
  kCallBlamed = 16,  // kCall: others waited while its process was in it
  kJoined = 16,      // kSend, kReceive: other end known; kCollective: all members known
  kCancelled = 32,   // kDone
  kNotice = 32,      // kSend, kReceive: no message (6)
  kBystander = 32,   // kCollective: depends on nobody, and nobody on it (4)
  kSynchronous = 64,  // kSend: in MPI_Ssend or a variant, which waits at any length
  kAwaited =
      128,  // kSend, kReceive: the send waited for the receive (awaited_receives.h); 0 before
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
      0;  // kCall: function; kSend, kReceive: tag; kCollective: position in its sequence
  union {
    std::uint32_t wait_kind = 0;  // kCall
    std::uint32_t object;         // kCollective
  };
  std::uint16_t thread = 0;
  StepKind kind = StepKind::kCall;
  std::uint8_t flags = 0;

  bool has(StepFlag flag) const { return (flags & flag) != 0; }
};
static_assert(sizeof(Step) == 64);

// In place of the tag of a kSend or kReceive with kNotice that is about a lock. Most of those have no
// other end, because each call that may have waited has one.
inline constexpr std::uint32_t kAboutLock = 1;

// Whether nothing depends on the message: one that the library sends itself, except to a neighbour; or
// what might have been a wait for a lock.
inline bool is_internal(const Step& step) {
  if (!step.has(kHidden) || step.has(kNeighbor)) return false;
  return !step.has(kNotice) || (step.number == kAboutLock && !step.has(kJoined));
}

// The next receive that the same kSend reaches, after a kReceive with kNotice; process kNobody: none (6).
struct NextHearer {
  std::uint32_t process = kNobody, step = 0;

  static NextHearer of(const Step& step) {
    if (step.kind != StepKind::kReceive || !step.has(kNotice) || step.bytes == 0) return {};
    return {static_cast<std::uint32_t>(step.bytes >> 32), static_cast<std::uint32_t>(step.bytes)};
  }
  // As Step::bytes. A process's first step is a call, so 0 is none.
  std::uint64_t packed() const {
    return process == kNobody ? 0 : std::uint64_t{process} << 32 | step;
  }
};

// Names a persistent collective among those of its communicator: all members make them in the same
// order, but may start them in any (MPI 4.0, section 6.13). The name also says what the collective
// does, because the call that starts it is MPI_Start for all of them. 0: none.
struct PersistentName {
  static constexpr std::uint32_t kMark = 1u << 31, kOrdinals = 1u << 20, kFunctions = 1u << 11;

  static constexpr std::uint32_t of(std::uint32_t function, std::uint32_t ordinal) {
    return kMark | function % kFunctions * kOrdinals | ordinal % kOrdinals;
  }
  static constexpr bool is_one(std::uint32_t object) {
    return (object & kMark) != 0 && object != kNobody;
  }
  static constexpr std::uint32_t function(std::uint32_t object) {
    return (object & ~kMark) / kOrdinals;
  }
  static constexpr std::uint32_t ordinal(std::uint32_t object) { return object % kOrdinals; }
};

// The kSend, kReceive or kCollective that completes at step `number` of its process: the one a
// kDone names, or the step itself if it belongs to no request. kNobody: none.
inline std::uint32_t completed_with(std::uint32_t number, const Step& step) {
  if (step.kind == StepKind::kDone) return step.has(kCancelled) ? kNobody : step.partner_step;
  const bool part = step.kind == StepKind::kSend || step.kind == StepKind::kReceive ||
                    step.kind == StepKind::kCollective;
  return part && !step.has(kByRequest) ? number : kNobody;
}

}  // namespace fathom::analysis

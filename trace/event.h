// SPDX-License-Identifier: BSD-3-Clause
// One decoded event of a trace: what the reader returns, and what tools give to the writer.
//
// Fields that a kind does not use keep their default. Communicators, functions, classes and phases
// are numbers of the run's Definitions (definitions.h), the same for all processes. Ranks are world
// ranks as in the profile (processes of other worlds have numbers from world_size up).
#pragma once

#include <cstdint>

#include "trace/format/format.h"

namespace fathom::trace {

inline constexpr std::int32_t kNobody = -1;       // no rank, no communicator
inline constexpr std::int32_t kAnySource = -101;  // as posted
inline constexpr std::int32_t kNullProcess = -102;
inline constexpr std::int32_t kAnyTag = -1;
// Event::root in an intercommunicator, at the group of the root: MPI_ROOT, and MPI_PROC_NULL at
// those that take no part. The values are Open MPI's.
inline constexpr std::int32_t kIsRoot = -4;
inline constexpr std::int32_t kTakesNoPart = -2;

enum class EventKind : std::uint8_t {
  kEnter,
  kLeave,  // an MPI call
  kMessageSent,
  kMessageReceived,   // a message, also one inside a collective
  kRequestCompleted,  // in the wait or test that is active on the thread
  kTransfer,
  kUnexpected,
  kPhaseBegin,
  kPhaseEnd,
  kPause,
  kResume,
  kProcessor,
  kLost,  // `count` records are missing before this one; 0: an unknown number
  kSampled,
  kRequestGiven,  // one of several requests of the open call: of MPI_Waitall and MPI_Startall; left
                  // active by MPI_Waitany or MPI_Waitsome, which waited
  kMemberGiven,   // `peer`: a member of the group that the open call was given: of MPI_Win_post and
                  // MPI_Win_start
};
inline constexpr EventKind kLastEventKind = EventKind::kMemberGiven;

struct Event {
  std::uint64_t time_ns = 0;  // since the run's epoch, with the clocks of all hosts aligned
  std::uint64_t bytes = 0, bytes2 = 0;
  std::uint64_t request = 0;  // kNoRequest, or unique among the process's live requests
  std::uint64_t site = 0;     // return address of the call, 0 if not recorded
  // Window or file; a message that a probe holds; of a partition: the request of its operation.
  std::uint64_t object = 0;
  std::uint64_t count = 0;  // requests given, records lost, calls sampled
  std::uint64_t offset =
      0;  // target displacement, file offset; kSampled: nanoseconds inside the calls
  std::int32_t peer = kNobody, peer2 = kNobody;  // world rank; kAnySource or kNullProcess as posted
  std::int32_t comm_peer =
      kNobody;  // the same in the communicator's ranks (remote group's, if it has one)
  std::int32_t tag = 0, tag2 = 0;
  std::int32_t root =
      kNobody;  // world rank; a negative special value (MPI_ROOT, MPI_PROC_NULL) as given
  std::int32_t communicator = kNobody, new_communicator = kNobody;
  std::uint32_t thread = 0;
  std::uint32_t function = 0;  // kEnter, kLeave, kSampled
  std::uint32_t code =
      0;  // class of a message; TransferStep; phase; processor; error class; PauseReason; LockType
  std::int32_t flag = -1;  // at leave of a test or probe; kRequestCompleted: 1 if cancelled
  EventKind kind = EventKind::kEnter;
  bool receiving = false;  // kTransfer: of a receive; kUnexpected: the message left the queue
};

}  // namespace fathom::trace

// SPDX-License-Identifier: BSD-3-Clause
// In what way a call waited for another process. analysis/engine/call_wait.h defines when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "mpi/meaning.h"

namespace fathom::mpi {

// Without a trace, shorter calls are left out: they hardly wait, as a message between two cores takes up to a microsecond
// each way. Looking at them would cost more than it tells, some 100 ns where those cores are far apart.
inline constexpr double kShortestWait_ns = 2000;

// Two calls that test or probe belong to one polling loop if no more than this is between them. A
// program that polls may do a little work there; more than that is not waiting.
inline constexpr std::uint64_t kLongestPoll_ns = 1'000'000;

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
  kPolling,
  kInit,
  kFinalize,
  kCreate,
  kFence,
  kFile,
  kNeighbours,
  kLatePost,
  kLateComplete,
  kLock,
};
inline constexpr std::size_t kWaitKinds = 20;

// "late-sender": the names of Scalasca's wait states, where it has them.
inline constexpr const char* kWaitKindNames[kWaitKinds] = {
    "late-sender",  "wrong-order",         "late-receiver",    "wait-at-barrier", "wait-at-nxn",
    "early-reduce", "early-gather",        "late-broadcast",   "early-scatter",   "early-scan",
    "polling",      "wait-at-init",        "wait-at-finalize", "wait-at-create",  "wait-at-fence",
    "wait-at-file", "wait-for-neighbours", "late-post",        "late-complete",   "wait-for-lock"};
constexpr const char* name_of(WaitKind kind) {
  return kWaitKindNames[static_cast<std::size_t>(kind)];
}

// The same for people, where there is little room.
inline constexpr const char* kWaitKindWords[kWaitKinds] = {
    "late sender", "wrong order", "late receiver", "barrier",       "collective",
    "reduction",   "gather",      "late root",     "late root",     "scan",
    "polling",     "MPI_Init",    "MPI_Finalize",  "constructor",   "fence",
    "file",        "neighbour",   "late post",     "late complete", "lock"};

constexpr std::optional<WaitKind> wait_kind_named(std::string_view name) {
  for (std::size_t kind = 0; kind < kWaitKinds; ++kind) {
    if (name == kWaitKindNames[kind]) return static_cast<WaitKind>(kind);
  }
  return {};
}

// How callers of this function, which has a place in a sequence or belongs to an epoch of a window or
// of a lock, wait for others.
constexpr WaitKind wait_kind_of(const Meaning& function) {
  if (function.begins_job) return WaitKind::kInit;
  if (function.ends_job) return WaitKind::kFinalize;
  if (function.epoch != Epoch::kNone)
    return function.epoch == Epoch::kWait ? WaitKind::kLateComplete : WaitKind::kLatePost;
  if (function.lock != LockStep::kNone) return WaitKind::kLock;
  if (function.group == Group::kIo) return WaitKind::kFile;
  if (function.constructs || function.window != WindowAccess::kNone) return WaitKind::kCreate;
  if (function.sequence == Sequence::kWindow) return WaitKind::kFence;
  if (is_neighborhood(function.collective)) return WaitKind::kNeighbours;
  const bool parts = moves_parts(function.collective);
  switch (function.flow) {
    case Flow::kBarrier: return WaitKind::kBarrier;
    case Flow::kFromRoot: return parts ? WaitKind::kEarlyScatter : WaitKind::kLateBroadcast;
    case Flow::kToRoot: return parts ? WaitKind::kEarlyGather : WaitKind::kEarlyReduce;
    case Flow::kPrefix: return WaitKind::kEarlyScan;
    case Flow::kNone:
    case Flow::kAllToAll: break;
  }
  return WaitKind::kAllToAll;
}

}  // namespace fathom::mpi

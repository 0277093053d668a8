// SPDX-License-Identifier: BSD-3-Clause
// Finds out, at the end of a run, which calls waited for which process and how long.
//
// The definitions are those of the analysis of traces (analysis/engine/call_wait.h). A process asks
// the other end of each channel when the messages were sent, or their receives posted, that its
// calls completed. When the members of a communicator entered a collective is brought together at a
// process that depends on the communicator and the collective's place in the sequence alone, so that
// this work and its memory are spread over all.
//
// What it cannot know: a message's arrival, if that came before the sender's clock says that it was
// sent; whether another message could have been received first (wrong order), or another request
// that MPI_Waitany was given could have completed first.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "mpi/wait_kind.h"
#include "profiler/clocks/shared_clock.h"
#include "profiler/counting/profiled_process.h"
#include "profiler/openmpi/gather.h"
#include "profiler/waits/wait_log.h"

namespace fathom::profiler {

struct FoundWait {
  std::int64_t entered_ns = 0, left_ns = 0;  // the call
  std::int64_t decided_ns = 0;               // the decisive moment at the other process
  std::uint32_t peer_rank = 0;               // in this world
  mpi::WaitKind kind = mpi::WaitKind::kLateSender;
  bool of_main = false;      // the thread that called MPI_Init
  std::uint32_t number = 0;  // of its record
  std::uint64_t entered_ticks = 0;
  const profile::CallRow* row = nullptr;

  // A call waits at most until it is left.
  std::int64_t ns() const { return (decided_ns < left_ns ? decided_ns : left_ns) - entered_ns; }
};

struct FoundWaits {
  std::vector<FoundWait> waits;  // in the order of their records
  // The records of calls of which a decisive moment is not known, in the same order, and how long they took.
  std::vector<std::uint32_t> unresolved;
  std::uint64_t unresolved_ns = 0;
};

// What all processes tell each other meanwhile, and the largest of which all know then: each in a
// message of its own up and down the tree would take most of the time that all of this takes.
enum ToldToAll : std::size_t {
  kIsUnable,     // 1: this process cannot take part
  kUncertainty,  // of its clock
  kWindowCount,  // of the path that it has
  kEndOfRun,
  kEnteredInit,
  kEnteredFinalize,
  kGoesInRounds,   // of the exchange
  kRemembersMuch,  // 1: too much for process 0 to follow the path alone
  kToldCount
};
static_assert(kToldCount == std::tuple_size_v<Gather::Places>);
// By how much two processes may differ; shorter waits do not count.
inline std::int64_t uncertainty_ns(const Gather::Places& told) {
  return 2 * told[kUncertainty].value;
}

// All processes of the world call it together, after WaitLog::close() and when no message of the
// program is on its way. `clock`: null if this process cannot take part. Afterwards `told` is the same
// everywhere. If a process cannot take part, there are no waits. Does not throw: without memory a
// process answers and finds less.
FoundWaits find_waits(ProfiledProcess& process, Gather& gather, const SharedClock* clock,
                      Gather::Places& told) noexcept;

}  // namespace fathom::profiler

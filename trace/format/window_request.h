// SPDX-License-Identifier: BSD-3-Clause
// How a reader asks a running process for a trace of some seconds: the page that they share.
//
// Each process that can be asked has a memory file (memfd "fathom-window") of one WindowPage, which
// only its user can open, through /proc/PID/fd/N, and which vanishes with the process. A reader that
// holds the lock of the file (flock) writes `for_ns` and `wished`, and then sets kWindowAsked in
// `control`. At its next MPI call the process begins to record into RUN/snap-N, N being `wished`; a
// thread of its own ends that after `for_ns`, or as soon as the reader writes 0 there. The reader does
// so, and takes kWindowAsked back, when the time is over for all: a process that makes no call until
// then records nothing. Times are spans, because clocks differ between namespaces.
//
// Everything that is read here may have been written by any process of the same user: numbers are
// checked, and no other text than the run directory, which only readers use, is taken from it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fathom::trace {

inline constexpr char kWindowPageName[] = "fathom-window";
inline constexpr char kWindowMagic[8] = {'F', 'T', 'H', 'M', 'W', 'N', 'D', 'W'};
inline constexpr std::uint32_t kWindowVersion = 1;

// Bits of `control`. While it is 0, a call of the program looks at nothing else.
inline constexpr std::uint32_t kWindowRecords = 1;  // by the process
inline constexpr std::uint32_t kWindowAsked = 2;    // by a reader; taken back by the process

inline constexpr std::uint32_t kMostWindows = 100'000;
inline constexpr std::size_t kWindowRunBytes = 4096;

struct WindowPage {
  char magic[8];  // written last
  std::uint32_t version, bytes;
  std::uint32_t pid, job, rank, world_size;
  std::atomic<std::uint32_t> control;
  std::atomic<std::uint32_t> ended_mpi;  // 1: MPI_Finalize has come, and nothing begins any more
  // By readers.
  std::atomic<std::uint64_t> for_ns;  // 0: it is over
  std::atomic<std::uint32_t> wished;  // number of the window
  // By the process: of the last window that it began, and of the last that it ended. `error`: why
  // that one could not be begun (errno), 0 if it could.
  std::atomic<std::uint32_t> begun, ended, error;
  char run[kWindowRunBytes];  // run directory, absolute; ends with a zero
};
static_assert(sizeof(WindowPage) == 64 + kWindowRunBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// For ranks on other hosts: the symbolic link RUN/.window, with the target "N NANOSECONDS": the number
// of the window, and how long it is. `fathom run`, samplers and `fathom watch-host` look at
// it once a second, and ask the processes on their host.
inline constexpr char kWindowRequest[] = ".window";

}  // namespace fathom::trace

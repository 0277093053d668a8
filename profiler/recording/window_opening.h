// SPDX-License-Identifier: BSD-3-Clause
// What this process has sent, received and entered so far, as the opening of a trace that begins now
// (trace/format/opening.h). It is what finding waits counts anyway (profiler/waits/wait_log.h): the
// program's own messages, not those inside collectives.
//
// Cold. By a thread that is about to begin a call, while no other thread is inside MPI; whether
// another may be, is_exact says.
#pragma once

#include <vector>

#include "trace/format/opening.h"

namespace fathom::profiler {

struct WindowOpening {
  std::vector<trace::OpeningChannelRow> channels;
  std::vector<trace::OpeningSequenceRow> sequences;
  std::vector<trace::OpeningHeldRow> held;
  std::uint64_t before = 0;  // messages and collectives in them
  // Not if several threads communicate, if the program has paused counting, or if it used more
  // channels, or held more messages by probes, than there was room for.
  bool is_exact = false;
};

// Needs WaitLog::opened(). `counts_all`: the program has never paused counting.
WindowOpening window_opening(bool counts_all, bool threads_share);

}  // namespace fathom::profiler

// SPDX-License-Identifier: BSD-3-Clause
// A change of a run: some of its times, multiplied by a factor.
//
//   rank 3 : 0.8                        the work of rank 3: its time outside MPI
//   function MPI_Allreduce : 0.5        what calls of it take after their waits
//   site halo.c:41 : 0.5                the same of the calls made there
//   before site halo.c:41 : 0.8         the work that leads to these calls
//   rank 0-3 before function solve : 0  the same of some ranks, for calls that solve() makes
//   latency : 2                         the time from the sender to the receiver of each message
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"

namespace fathom::analysis {

struct SupposedChange {
  enum class Of { kWork, kCalls, kLatency };

  std::string text;  // as it was given
  Of of = Of::kWork;
  double factor = 1;
  std::optional<std::set<std::int64_t>> ranks;  // empty: all; of messages, the receivers
  // Of calls, or of the work before them; empty: of all. A function of MPI, or the program's own one
  // that makes the call.
  std::string function;
  std::string file;  // its last parts; a place without debug information is all of "app+0x1234"
  int line = 0;
};

// Reads a change; an Error says what is wrong with it.
base::Result<SupposedChange> parse_supposed_change(const std::string& text);

}  // namespace fathom::analysis

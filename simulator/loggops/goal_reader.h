// SPDX-License-Identifier: BSD-3-Clause
// Reads schedules in GOAL, the text format that LogGOPSim's txt2bin accepts (T. Hoefler et al.,
// Group Operation Assembly Language, ICPP 2009; spcl/LogGOPSim, txt2bin.re):
//
//     num_ranks 2
//     rank 0 {
//     l1: calc 1500                       nanoseconds; may end in: cpu N
//     l2: send 1024b to 1 tag 7 cpu 0     tag (0), cpu (0) and nic may be left out
//     l2 requires l1                      l2 starts when l1 has ended
//     l2 irequires l1                     ... has started
//     recv 8b from 1                      labels may be left out; rank and tag -1: any
//     }
//
// One statement per line; // and /* */ are comments. Labels are local to a rank and must be defined
// before use. All messages use communicator 0. An interface other than nic 0 is an error, because a
// rank has only one.
//
// Any input bytes are safe. An Error gives line and column, and shows the line with a caret below
// the position. Memory: the Program and the text.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "simulator/loggops/program.h"

namespace fathom::simulator {

// `name` is the text's name in errors.
base::Result<Program> read_goal(std::string_view text, const std::string& name);
base::Result<Program> read_goal_file(const std::string& path);

}  // namespace fathom::simulator

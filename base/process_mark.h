// SPDX-License-Identifier: BSD-3-Clause
// Identifies a process in a file that outlives it, so that a later reader can tell whether it still
// runs. A process number alone would not do: numbers are used again, and mean nothing on another
// host or in another container.
//
// Threading: none of its own. Nothing here fails loudly: where /proc does not answer, the result is
// kUnknown.
#pragma once

#include <string>
#include <string_view>

namespace fathom::base {

// "PID START NAMESPACE HOST" of this process: its number, when it started (clock ticks since boot,
// /proc/PID/stat), its namespace of process numbers, and its host, which is last as it may be
// anything.
std::string process_mark();

enum class Liveness {
  kAlive,
  kGone,
  kUnknown,  // on another host or in another container, or no mark
};
Liveness liveness_of(std::string_view mark);

// "process 4711 on node01"; empty if it is no mark.
std::string named_process(std::string_view mark);

}  // namespace fathom::base

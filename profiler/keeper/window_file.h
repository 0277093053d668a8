// SPDX-License-Identifier: BSD-3-Clause
// Writes what a flight recorder holds as an ordinary trace file (trace/format/format.h).
//
// The definitions are complete: every frame of them since MPI_Init. Only events were dropped; the
// line "dropped N" says how many.
#pragma once

#include <deque>
#include <string>

#include "profiler/keeper/before_window.h"
#include "profiler/keeper/kept_memory.h"
#include "trace/format/format.h"

namespace fathom::profiler {

// What the process has defined so far; `descriptor`: its file of definitions.
trace::ProcessDefinitions definitions_in(int descriptor);

// Writes FOLDER/trace/JOB.RANK.trace and makes the folders. The file appears under its name when it
// is complete. `definitions`: descriptor of the process's file of definitions; `clocks`: moments
// since the first record, the last of them now. False, with errno set, if it cannot be written, or
// if the process has not defined anything yet.
bool write_window(const std::string& folder, const KeptMemory& memory, BeforeWindow& before,
                  int definitions, const std::deque<trace::ClockRow>& clocks);

}  // namespace fathom::profiler

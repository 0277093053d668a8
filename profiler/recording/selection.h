// SPDX-License-Identifier: BSD-3-Clause
// What a trace is to hold, as the wrappers ask for it and as its definitions say it. Cold.
#pragma once

#include <string>

#include "profiler/recording/trace_settings.h"

namespace fathom::profiler {

// Sets traced::Selection.
void apply_selection(const TraceSettings& settings);

// Lines for the definitions: functions, clock, level and selection.
std::string describe_recording(const TraceSettings& settings);

}  // namespace fathom::profiler

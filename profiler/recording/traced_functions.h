// SPDX-License-Identifier: BSD-3-Clause
// The functions that the trace library wraps, by number. Generated from mpi/functions.table.
#pragma once

#include <cstdint>

namespace fathom::profiler {

extern const std::uint32_t kTracedFunctionCount;
extern const char* const kTracedFunctionNames[];
// Lines "function ID NAME GROUP enter=… leave=…" for the trace's definitions.
extern const char kTracedFunctionLines[];

}  // namespace fathom::profiler

// SPDX-License-Identifier: BSD-3-Clause
// What the trace records of each function's calls. Generated from mpi/functions.table.
#pragma once

namespace fathom::profiler {

// Lines "function ID NAME GROUP enter=… leave=…" for the trace's definitions.
extern const char kTracedFunctionLines[];

}  // namespace fathom::profiler

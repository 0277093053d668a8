// SPDX-License-Identifier: BSD-3-Clause
// The MPI functions that the libraries wrap, by number (function_numbers.h). Generated from
// mpi/functions.table.
#pragma once

#include <cstdint>

namespace fathom::profiler {

extern const std::uint32_t kFunctionCount;
extern const char* const kFunctionNames[];

// The same names in a library whose wrappers time calls; null in the one that only counts.
extern const char* const* const kTimedFunctions;
extern const std::uint32_t kTimedFunctionCount;  // 0 there

}  // namespace fathom::profiler

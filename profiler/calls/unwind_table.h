// SPDX-License-Identifier: BSD-3-Clause
// The size of a function's frame, from the unwind tables that every shared library carries.
//
// Reads .eh_frame_hdr and .eh_frame in memory (Linux Standard Base Core 5.0, 10.6; DWARF 5, 6.4),
// as far as compilers use them for x86-64. No allocation, no lock, no system call.
#pragma once

#include <cstdint>

namespace fathom::profiler {

// The distance from the stack pointer to the canonical frame address (just above the return
// address) at `address`, inside a function that `frame_header` (a PT_GNU_EH_FRAME segment) covers.
// -1 if no table covers it, or if it is not a fixed distance from the stack pointer.
std::int64_t frame_size_at(const std::uint8_t* frame_header, std::uintptr_t address);

}  // namespace fathom::profiler

// SPDX-License-Identifier: BSD-3-Clause
// Places in the test program itself, for tests of call sites. It must be compiled with -g.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "trace/definitions.h"

namespace fathom::test {

// The executable mapping of this program that holds an address, as if it came from `path`.
inline trace::CodeSegment segment_of(std::uint64_t address, const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0, offset = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %lx", &begin, &end, &offset) != 3) continue;
    if (address < begin || address >= end) continue;
    trace::CodeSegment segment;
    segment.base = begin;
    segment.size = end - begin;
    segment.offset = offset;
    segment.path = path;
    return segment;
  }
  return {};
}

struct OwnPlace {
  std::uint64_t address;
  int line;
};

}  // namespace fathom::test

// Where the call of this function returns to.
extern "C" [[gnu::noinline]] inline std::uint64_t return_address() {
  const auto address = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  asm volatile("" ::: "memory");
  return address;
}

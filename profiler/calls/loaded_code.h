// SPDX-License-Identifier: BSD-3-Clause
// The executable files that are mapped into this process, so that addresses in it keep a meaning
// after it has ended. Cold: takes the loader's lock.
#pragma once

#include <cstdint>
#include <string>

namespace fathom::profiler {

// One "code" line (trace/format/format.h) for each executable segment that is now mapped. `seen`:
// the loader's count of objects loaded so far; if it has not changed, the result is empty.
std::string describe_code(unsigned long long& seen);

// A place in a file's own address space, which is the same in every process that maps the file.
struct CodePlace {
  std::string path;           // empty: no mapped file holds the address
  std::string build_id;       // "-" without one
  std::uint64_t address = 0;  // as addr2line takes it; the address itself without a file
};
CodePlace place_in_file(const void* address);

}  // namespace fathom::profiler

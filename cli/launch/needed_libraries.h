// SPDX-License-Identifier: BSD-3-Clause
// The shared libraries that a program needs (DT_NEEDED), as it names them: "libmpi.so.40".
#pragma once

#include <string>
#include <vector>

namespace fathom::cli {

// In the program's order; empty if the file cannot be read or is not an ELF file.
std::vector<std::string> needed_libraries(const std::string& program);

}  // namespace fathom::cli

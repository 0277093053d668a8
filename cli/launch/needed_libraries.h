// SPDX-License-Identifier: BSD-3-Clause
// The shared libraries that a program needs (DT_NEEDED), as it names them: "libmpi.so.40".
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fathom::cli {

// In the program's order; empty if the file cannot be read or is not an ELF file.
std::vector<std::string> needed_libraries(const std::string& program);

// Whether the system's loader, which reads LD_PRELOAD, starts the program.
enum class LinkKind { kDynamic, kStatic };
// Nothing if the file cannot be read or is not an ELF program.
std::optional<LinkKind> link_kind(const std::string& program);

}  // namespace fathom::cli

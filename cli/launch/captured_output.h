// SPDX-License-Identifier: BSD-3-Clause
// Asks another program of the machine, such as `mpirun --version`, and reads what it prints.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace fathom::cli {

// What the command writes to stdout; it gets nothing on stdin, and its stderr is dropped. Nothing
// if it cannot be started, does not end with exit code 0, or is not done after `patience`: then it
// is killed.
std::optional<std::string> captured_output(const std::vector<std::string>& command,
                                           std::chrono::milliseconds patience);

}  // namespace fathom::cli

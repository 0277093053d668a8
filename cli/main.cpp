// SPDX-License-Identifier: BSD-3-Clause
#include <exception>
#include <string>
#include <vector>

#include "cli/language/command_line.h"

int main(int argc, char** argv) try {
  return fathom::cli::run_command_line({argv + 1, argv + argc});
} catch (const std::exception& error) {  // out of memory, or thrown by a library
  return fathom::cli::fail(fathom::cli::kFailed, "", error.what());
}

// SPDX-License-Identifier: BSD-3-Clause
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/language/command_line.h"

int main(int argc, char** argv) try {
  return fathom::cli::run_command_line({argv + 1, argv + argc});
} catch (const std::bad_alloc&) {
  return fathom::cli::fail(fathom::cli::kFailed, "",
                           "there is not enough memory for this (a limit, ulimit -v, may be set)");
} catch (const std::exception& error) {  // thrown by a library
  return fathom::cli::fail(fathom::cli::kFailed, "", error.what());
}

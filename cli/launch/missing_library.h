// SPDX-License-Identifier: BSD-3-Clause
// Why no rank of a job loaded the library, as far as the command shows it: something on the way
// removes LD_PRELOAD (env -i, sudo, a container, a script), or the program cannot be preloaded
// into (statically linked, setuid) or uses another MPI.
//
// Reads the program that the ranks run and, of a script, its text; runs nothing. What it cannot
// read or does not know it leaves out, so an empty answer means nothing.
#pragma once

#include <string>
#include <vector>

#include "cli/launch/launcher.h"

namespace fathom::cli {

// What the ranks would have had to get.
struct Preload {
  std::string library;  // absolute path
  std::string run;      // absolute path of the run directory
};

// Sentences without the last full stop, joined by "; ": what is wrong and what to do. Empty if the
// command shows nothing.
std::string why_not_loaded(const std::vector<std::string>& command, const Preload& preload);

}  // namespace fathom::cli

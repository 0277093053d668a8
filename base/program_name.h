// SPDX-License-Identifier: BSD-3-Clause
// The name by which people know a program. `python3 -u solver.py` is solver.py: every Python
// program has the same executable, so the executable's name would not tell runs apart.
//
// Threading: none of its own. Never fails; an interpreter that runs no script keeps its own name.
#pragma once

#include <string>
#include <vector>

namespace fathom::base {

// Index in `command` of the program that people mean: the script if command[at] is an interpreter
// that runs one (`python3 -m mpi4py solver.py` runs solver.py; `python3 -m package.tool` runs
// package.tool), else `at`.
std::size_t program_position(const std::vector<std::string>& command, std::size_t at);

// The executable or, of an interpreter, the script as the command names it. `arguments` are those after the executable.
std::string program_path(const std::string& executable, const std::vector<std::string>& arguments);

// The same without its folder.
std::string program_name(const std::string& executable, const std::vector<std::string>& arguments);

}  // namespace fathom::base

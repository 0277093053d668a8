// SPDX-License-Identifier: BSD-3-Clause
// From words to actions: finds the subcommand's row, parses its options, answers --help.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/language/subcommand.h"

namespace fathom::cli {

// `words` is the command line without the program's name. Prints and returns the exit code.
int run_command_line(const std::vector<std::string>& words);

// Prepares a later stage of `fathom run`: one subcommand line with its options, quoted as in a
// shell, to run on `run_directory`. Finds all errors in the line itself now.
base::Result<Action> prepare_stage(const std::string& line, const std::string& run_directory);

// Puts name, help, examples and options of a subcommand on `app`, as it is parsed and shown.
Action declare(const Subcommand& row, CLI::App& app);

// "there is no option --rank; did you mean --ranks?"
base::Error unknown_option(const CLI::App& app, const std::string& word);

// Prints "fathom SUBCOMMAND: sentence" (or "fathom: sentence") to stderr; returns `exit_code`.
int fail(int exit_code, const std::string& subcommand, const std::string& sentence);

}  // namespace fathom::cli

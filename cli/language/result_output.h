// SPDX-License-Identifier: BSD-3-Clause
// Where a subcommand's result goes, and in which form: --json, -o FILE, --force. A FILE that ends
// in .json holds JSON without being asked.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/result.h"

namespace fathom::cli {

struct ResultOutput {
  bool json = false;
  std::string path;  // empty: stdout
  bool force = false;

  bool wants_json() const { return json || path.ends_with(".json"); }
};

void add_result_output(CLI::App& app, ResultOutput& output,
                       const std::string& json_help = "print JSON, for programs");

// An Error if FILE is there already and --force was not given.
base::Status check(const ResultOutput& output);

// Prints or writes the whole of a result: in a file it appears whole or not at all. Says on stderr
// what went wrong as "fathom SUBCOMMAND: ..."; returns the exit code.
int deliver(const ResultOutput& output, const std::string& subcommand, const std::string& text);

}  // namespace fathom::cli

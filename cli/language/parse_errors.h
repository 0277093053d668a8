// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with a command line, in our own words. CLI11's sentences name neither what a value
// is for nor what to write instead ("--top: 1 required N missing").
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace fathom::cli {

// One sentence without a full stop. `part` is the subcommand whose options were being read.
std::string sentence_of(const CLI::App& part, const CLI::ParseError& error);

}  // namespace fathom::cli

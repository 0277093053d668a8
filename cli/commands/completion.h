// SPDX-License-Identifier: BSD-3-Clause
// `fathom completion`: a script with which bash completes subcommands, options and their values.
#pragma once

#include <span>
#include <string>

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kCompletionExamples[] =
    "  . <(fathom completion bash)\n"
    "An installed Fathom includes this script, and bash loads it by itself.\n";

Action declare_completion(CLI::App& app);

// Which words the value of an option can be. Options without such a row take the name of a file.
struct OptionWords {
  const char* subcommand;
  const char* option;
  std::string (*words)();
};

std::span<const OptionWords> simulator_option_words();  // none where there is no simulator

}  // namespace fathom::cli

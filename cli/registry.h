// Every subcommand, one row each, in the order in which `fathom --help` lists them.
#pragma once

#include <span>
#include <string_view>

#include "cli/subcommand.h"

namespace fathom::cli {

std::span<const Subcommand> all_subcommands();

// nullptr if there is no such subcommand.
const Subcommand* find_subcommand(std::string_view name);

}  // namespace fathom::cli

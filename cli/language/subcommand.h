// SPDX-License-Identifier: BSD-3-Clause
// A subcommand of `fathom`: one file pair, one row in cli/registry.cpp, one Meson line, one test.
// docs/adding-a-subcommand.md walks through it.
//
// declare() puts the subcommand's options on `app` and returns what to do once they are parsed. The
// action prints, and returns the exit code; it must not throw and must not call exit().
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string_view>

namespace fathom::cli {

inline constexpr int kFine = 0;
inline constexpr int kFailed = 1;         // the data or the run failed
inline constexpr int kWrongUsage = 2;     // nothing was done: the request cannot be carried out
inline constexpr int kLimitExceeded = 3;  // compare: something grew more than it may

using Action = std::function<int()>;

struct Subcommand {
  const char* name;
  const char* help;      // one line
  const char* examples;  // shown below the options of `fathom NAME --help`
  // How `fathom run --then` passes the run directory: "" as the first argument, "--job" as the
  // value of that option; nullptr if the subcommand cannot follow a run.
  const char* run_argument;
  Action (*declare)(CLI::App& app);
};

// Every subcommand, one row each, in the order of `fathom --help`. Defined in cli/registry.cpp, the
// one place that knows all of them.
std::span<const Subcommand> all_subcommands();

// nullptr if there is no such subcommand. `analyse` is another name of analyze.
const Subcommand* find_subcommand(std::string_view name);

}  // namespace fathom::cli

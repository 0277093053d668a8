// SPDX-License-Identifier: BSD-3-Clause
// Which events of a trace a subcommand is about: --from, --to, --ranks, --functions,
// --communicators, --phases and --kinds (cli/language/options.h says how their values are written).
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/language/options.h"
#include "trace/event_filter.h"
#include "trace/reader.h"

namespace fathom::cli {

struct EventChoice {
  Window window;
  std::optional<std::set<std::int64_t>> ranks;
  std::vector<std::string> functions, communicators, phases, kinds;
};

void add_content_options(CLI::App& app, EventChoice& choice);

// What was chosen, a line for each option, for those who read a part of a trace later.
std::vector<std::string> described(const EventChoice& choice);

// A choice in the numbers of a trace. An Error names what the trace does not hold.
struct ChosenEvents {
  std::vector<std::size_t> processes;
  trace::EventSelection selection;

  // Phases are known only if the trace has been read from the beginning.
  bool may_seek() const { return selection.from_ns > 0 && selection.phases.empty(); }
};
base::Result<ChosenEvents> choose(const EventChoice& choice, const trace::Definitions& definitions);

}  // namespace fathom::cli

// SPDX-License-Identifier: BSD-3-Clause
// How the command line selects events: times, lists of ranks, names of functions.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/event_filter.h"
#include "trace/reader.h"

namespace fathom::cli {

base::Result<std::uint64_t> parse_time(
    const std::string& text);  // "1.5s", "20ms", "3us", "7ns", "2"
base::Result<std::set<std::int64_t>> parse_ranks(const std::string& text);  // "0-3,7"

struct TraceChoice {
  std::string run, from, to, ranks;
  std::vector<std::string> functions, kinds;
  std::vector<std::int32_t> communicators;
};

void add_time_options(CLI::App& app, TraceChoice& choice);
void add_content_options(CLI::App& app, TraceChoice& choice);

// A selection in the numbering of a trace. An Error names what the trace does not contain.
struct ChosenEvents {
  std::vector<std::size_t> processes;
  trace::EventSelection selection;
};
base::Result<ChosenEvents> choose(const TraceChoice& choice, const trace::Definitions& definitions);

}  // namespace fathom::cli

// SPDX-License-Identifier: BSD-3-Clause
// What the page Machine asks for: where each rank ran, what was sent when, which calls were made, and the
// cards with Pyrite's analysis object. docs/view-protocol.md describes the answers.
//
// Threading: any thread, with a run of its own; machine_cards() uses the joined trace, so one at a time
// for a run.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/load_run.h"
#include "base/json/writer.h"
#include "base/result.h"
#include "view/answers/calls_in_window.h"

namespace fathom::view {

// Larger maps of a machine are not read: Pyrite's take some 100 bytes for each host.
inline constexpr std::uintmax_t kLargestMap = 16 << 20;

// The text of RUN/machine.json, which `fathom view --map FILE` overrules; empty if there is none. The Error
// says why it is not shown.
base::Result<std::string> machine_map(const std::string& run, const std::string& given);

// Each writes members into an open object.

// Hosts, sockets and processors by rank; classes, functions; the map's text as it is, which the page checks.
void write_machine(const analysis::LoadedRun& run, const base::Result<std::string>& map,
                   base::JsonWriter& json);

struct MachineWindow {
  std::uint64_t from_ns = 0, to_ns = 0;
  std::size_t bins = 1;
};
// Fewer bins, so that bins times ranks stay below this.
inline constexpr std::size_t kMostActivityRows = 400'000;
// The rows with most messages are kept.
inline constexpr std::size_t kMostFlowRows = 100'000;

// Messages by bin, pair and class, each counted where and when it was received (in a trace without receives,
// sent), as in the profile of a window; and in which call the first thread of each rank was longest in a bin.
// Without a trace, all messages of the profile in one bin. `calls` may be null then.
void write_machine_traffic(const analysis::LoadedRun& run, const CallsInWindow* calls,
                           MachineWindow window, base::JsonWriter& json);

// Lower ends of Pyrite's six bins, bytes.
inline constexpr std::uint64_t kSizeEdges[] = {0, 128, 1 << 10, 64 << 10, 1 << 20, 16 << 20};

// How many calls of each function touch the window, by bytes.
void write_machine_sizes(const trace::Trace& trace, const CallsInWindow& calls,
                         std::uint64_t from_ns, std::uint64_t to_ns, base::JsonWriter& json);

// Pyrite's analysis object of the input's scope. An Error without a trace. Uses the joined trace.
base::Result<std::string> machine_cards(const analysis::Input& input);

}  // namespace fathom::view

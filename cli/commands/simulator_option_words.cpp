// SPDX-License-Identifier: BSD-3-Clause
// What completion offers for `fathom simulate` and `fathom place`. Apart, because Fathom can be
// built without the simulator.
#include "base/text.h"
#include "cli/commands/completion.h"
#include "simulator/placement/launcher_files.h"
#include "simulator/placement/objective.h"
#include "simulator/placement/registry.h"
#include "simulator/routing/registry.h"

namespace fathom::cli {
namespace {

template <typename Rows>
std::string names_of(const Rows& rows) {
  return base::joined(rows, " ");
}

const OptionWords kSimulatorWords[] = {
    {"simulate", "--selection", [] { return names_of(simulator::selectors()); }},
    {"simulate", "--placement", [] { return names_of(simulator::placements()); }},
    {"simulate", "--routing", [] { return names_of(simulator::routers()); }},
    {"simulate", "--model", [] { return std::string("load flow replay"); }},
    {"simulate", "--table", [] { return std::string("flow destination openflow"); }},
    {"place", "--selection", [] { return names_of(simulator::selectors()); }},
    {"place", "--routing", [] { return names_of(simulator::routers()); }},
    {"place", "--objective", [] { return base::joined(simulator::kObjectiveNames, " "); }},
    {"place", "--format", [] { return names_of(simulator::placement_formats()); }},
};

}  // namespace

std::span<const OptionWords> simulator_option_words() { return kSimulatorWords; }

}  // namespace fathom::cli

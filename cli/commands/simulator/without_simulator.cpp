// SPDX-License-Identifier: BSD-3-Clause
// `fathom simulate`, `fathom place` and `fathom cluster` where Fathom was built without the simulator.
#include "cli/commands/completion.h"
#include "cli/commands/simulator/cluster.h"
#include "cli/commands/simulator/place.h"
#include "cli/commands/simulator/simulate.h"
#include "cli/language/command_line.h"
#include "cli/runs/network_tool.h"

namespace fathom::cli {
namespace {

Action refuse(CLI::App& app, const char* name) {
  app.allow_extras();
  return [name] {
    return fail(kFailed, name,
                "this Fathom was built without the simulator; meson configure build "
                "-Dsimulator=enabled adds it");
  };
}

}  // namespace

Action declare_simulate(CLI::App& app) { return refuse(app, "simulate"); }

Action declare_cluster(CLI::App& app) { return refuse(app, "cluster"); }

Action declare_place(CLI::App& app) { return refuse(app, "place"); }

NetworkTool network_tool(const std::vector<std::string>&) { return {}; }

std::span<const OptionWords> simulator_option_words() { return {}; }

}  // namespace fathom::cli

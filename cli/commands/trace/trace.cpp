// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/trace/trace.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/language/command_line.h"

namespace fathom::cli {
namespace {

struct TracePart {
  const char* name;
  const char* help;
  const char* example;
  Action (*declare)(CLI::App& app);
};

constexpr TracePart kParts[] = {
    {"info", "show what a trace holds: processes, hosts, events, time, losses",
     "  fathom trace info r1 --scan\n", declare_trace_info},
    {"print", "print events in order of time, one per line",
     "  fathom trace print r1 --ranks 0 --functions MPI_Send\n", declare_trace_print},
    {"slice", "write a window of time as a run of its own",
     "  fathom trace slice r1 --from 10s --to 12s -o r1-cut\n", declare_trace_slice},
    {"filter", "write chosen events, such as those of some ranks, as a run of its own",
     "  fathom trace filter r1 --functions MPI_Allreduce --kinds calls -o r1-allreduce\n",
     declare_trace_filter},
    {"merge", "join the parts of a trace that lie in several folders",
     "  fathom trace merge node0/r1 node1/r1 -o r1\n", declare_trace_merge},
    {"check", "compare the messages of a trace with the profile of the same run",
     "  fathom trace check r1\n", declare_trace_check},
};

}  // namespace

Action declare_trace(CLI::App& app) {
  auto actions = std::make_shared<std::vector<std::pair<CLI::App*, Action>>>();
  app.require_subcommand(1);
  for (const TracePart& part : kParts) {
    CLI::App* chosen = app.add_subcommand(part.name, part.help);
    chosen->footer(std::string("\nExample:\n") + part.example);
    actions->emplace_back(chosen, part.declare(*chosen));
  }
  return [actions] {
    for (const auto& [chosen, action] : *actions) {
      if (chosen->parsed()) return action();
    }
    return fail(kWrongUsage, "trace", "name a subcommand; see fathom trace --help");
  };
}

}  // namespace fathom::cli

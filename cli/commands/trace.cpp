// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/trace.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/language/command_line.h"

namespace fathom::cli {
namespace {

struct Part {
  const char* name;
  const char* help;
  const char* example;
  Action (*declare)(CLI::App& app);
};

constexpr Part kParts[] = {
    {"info", "what a trace holds: processes, hosts, events, time, losses",
     "  fathom trace info r1 --scan\n", declare_trace_info},
    {"print", "events, one on a line, in the order of time",
     "  fathom trace print r1 --ranks 0 --function MPI_Send\n", declare_trace_print},
    {"slice", "write the part between two moments as a run of its own",
     "  fathom trace slice r1 --from 10s --to 12s -o r1-cut\n", declare_trace_slice},
    {"filter",
     "write the events of some ranks, functions, kinds or communicators as a run of its own",
     "  fathom trace filter r1 --function MPI_Allreduce --kind calls -o r1-allreduce\n",
     declare_trace_filter},
    {"merge", "join the traces that one run left in several folders",
     "  fathom trace merge node0/r1 node1/r1 -o r1\n", declare_trace_merge},
    {"check", "hold the messages of a trace against the profile of the same run",
     "  fathom trace check r1\n", declare_trace_check},
};

}  // namespace

Action declare_trace(CLI::App& app) {
  auto actions = std::make_shared<std::vector<std::pair<CLI::App*, Action>>>();
  app.require_subcommand(1);
  for (const Part& part : kParts) {
    CLI::App* chosen = app.add_subcommand(part.name, part.help);
    chosen->footer(std::string("\nExample:\n") + part.example);
    actions->emplace_back(chosen, part.declare(*chosen));
  }
  return [actions] {
    for (const auto& [chosen, action] : *actions) {
      if (chosen->parsed()) return action();
    }
    return fail(kWrongUsage, "trace", "say what to do; see fathom trace --help");
  };
}

}  // namespace fathom::cli

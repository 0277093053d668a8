// SPDX-License-Identifier: BSD-3-Clause
#include "cli/language/subcommand.h"

#include "cli/commands/analyze.h"
#include "cli/commands/compare.h"
#include "cli/commands/critical_path.h"
#include "cli/commands/doctor.h"
#include "cli/commands/export.h"
#include "cli/commands/import.h"
#include "cli/commands/place.h"
#include "cli/commands/plot.h"
#include "cli/commands/report.h"
#include "cli/commands/run.h"
#include "cli/commands/simulate.h"
#include "cli/commands/trace.h"

namespace fathom::cli {
namespace {

constexpr Subcommand kSubcommands[] = {
    {"run", "run an MPI job and measure what it sends", kRunExamples, nullptr, declare_run},
    {"report", "summarise a run on one screen", kReportExamples, "", declare_report},
    {"analyze", "find what costs a run time: who, where, when, and what to try", kAnalyzeExamples,
     "", declare_analyze},
    {"critical-path", "what a job's run time is made of, and what its costliest paths cost",
     kCriticalPathExamples, "", declare_critical_path},
    {"compare", "put runs side by side: what grew, and by how much", kCompareExamples, nullptr,
     declare_compare},
    {"plot", "draw traffic matrix, message matrix, message sizes and, of a trace, a timeline",
     kPlotExamples, "", declare_plot},
    {"export", "write a run's traffic in another program's format", kExportExamples, "",
     declare_export},
    {"import", "turn another profiler's output into a run", kImportExamples, nullptr,
     declare_import},
    {"simulate", "say what a job would put on the links of a network", kSimulateExamples, "--job",
     declare_simulate},
    {"place", "say where the processes of a job should run on a cluster", kPlaceExamples, "",
     declare_place},
    {"trace", "look at a trace, cut it, join several, check it against the profile", kTraceExamples,
     nullptr, declare_trace},
    {"doctor", "say what can be measured on this machine, and why not", kDoctorExamples, nullptr,
     declare_doctor},
};

}  // namespace

std::span<const Subcommand> all_subcommands() { return kSubcommands; }

const Subcommand* find_subcommand(std::string_view name) {
  for (const Subcommand& row : kSubcommands) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

}  // namespace fathom::cli

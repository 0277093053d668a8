#include "cli/registry.h"

#include "cli/analyze.h"
#include "cli/compare.h"
#include "cli/critical_path.h"
#include "cli/doctor.h"
#include "cli/export.h"
#include "cli/import.h"
#include "cli/place.h"
#include "cli/plot.h"
#include "cli/report.h"
#include "cli/run.h"
#include "cli/trace.h"
#include "cli/simulate.h"

namespace fathom::cli {
namespace {

constexpr Subcommand kSubcommands[] = {
    {"run", "run an MPI job and measure what it sends", kRunExamples, nullptr, declare_run},
    {"report", "summarise a run on one screen", kReportExamples, "", declare_report},
    {"analyze", "find what costs a run time: who, where, when, and what to try", kAnalyzeExamples, "",
     declare_analyze},
    {"critical-path", "what a job's run time is made of, and what its costliest paths cost", kCriticalPathExamples, "",
     declare_critical_path},
    {"compare", "put runs side by side: what grew, and by how much", kCompareExamples, nullptr, declare_compare},
    {"plot", "draw traffic matrix, message matrix, message sizes and, of a trace, a timeline", kPlotExamples, "",
     declare_plot},
    {"export", "write a run's traffic in another program's format", kExportExamples, "",
     declare_export},
    {"import", "turn another profiler's output into a run", kImportExamples, nullptr,
     declare_import},
    {"simulate", "say what a job would put on the links of a network", kSimulateExamples, "--job",
     declare_simulate},
    {"place", "say where the processes of a job should run on a cluster", kPlaceExamples, "", declare_place},
    {"trace", "look at a trace, cut it, join several, check it against the profile", kTraceExamples, nullptr,
     declare_trace},
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

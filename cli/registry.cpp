// SPDX-License-Identifier: BSD-3-Clause
#include "cli/language/subcommand.h"

#include "base/named_rows.h"
#include "cli/commands/analyze.h"
#include "cli/commands/compare.h"
#include "cli/commands/completion.h"
#include "cli/commands/critical_path.h"
#include "cli/commands/doctor.h"
#include "cli/commands/export.h"
#include "cli/commands/import.h"
#include "cli/commands/plot.h"
#include "cli/commands/report.h"
#include "cli/commands/run.h"
#include "cli/commands/simulator/cluster.h"
#include "cli/commands/simulator/place.h"
#include "cli/commands/simulator/simulate.h"
#include "cli/commands/snap.h"
#include "cli/commands/status.h"
#include "cli/commands/top/top.h"
#include "cli/commands/trace/trace.h"
#include "cli/commands/view.h"
#include "cli/commands/watch_host.h"

namespace fathom::cli {
namespace {

// In the order in which a user needs them, because `fathom --help` shows them so.
constexpr Subcommand kSubcommands[] = {
    {"run", "run an MPI job and measure what it sends", kRunExamples, nullptr, declare_run},
    {"status", "show whether a run's job still runs, and what it has recorded so far",
     kStatusExamples, nullptr, declare_status},
    {"snap",
     "take the next seconds of a running job, or the last of its flight recorder, as a trace",
     kSnapExamples, nullptr, declare_snap},
    {"top", "look into a running job: what each rank does, and who holds whom up", kTopExamples,
     nullptr, declare_top},
    {"report", "summarise a run on one screen", kReportExamples, "", declare_report},
    {"analyze", "find what costs time: who, where, when, and what to try", kAnalyzeExamples, "",
     declare_analyze},
    {"critical-path", "show what the run time is made of, and what the costliest paths cost",
     kCriticalPathExamples, "", declare_critical_path},
    {"compare", "compare runs: what grew, and by how much", kCompareExamples, nullptr,
     declare_compare},
    {"view", "look at runs in a browser: overview, timeline, matrix, machine, network",
     kViewExamples, "", declare_view},
    {"plot", "draw traffic, message sizes, time, waits and, for a trace, a timeline", kPlotExamples,
     "", declare_plot},
    {"export", "write a run's traffic or trace in another program's format", kExportExamples, "",
     declare_export},
    {"import", "turn another tool's output into a run", kImportExamples, nullptr, declare_import},
    {"simulate", "compute what a job would put on the links of a network", kSimulateExamples,
     "--job", declare_simulate},
    {"place", "find a better placement of a job's processes on a cluster", kPlaceExamples, "",
     declare_place},
    {"cluster", "show what is read from a cluster's description, or write it in another format",
     kClusterExamples, nullptr, declare_cluster},
    {"trace", "look at a trace, cut it, join several, check it against the profile", kTraceExamples,
     nullptr, declare_trace},
    {"watch-host", "let readers elsewhere see what a running job's ranks on this host do",
     kWatchHostExamples, nullptr, declare_watch_host},
    {"doctor", "check what can be measured on this machine, and what to do about the rest",
     kDoctorExamples, nullptr, declare_doctor},
    {"completion", "print a script for completion in the shell", kCompletionExamples, nullptr,
     declare_completion},
};

}  // namespace

std::span<const Subcommand> all_subcommands() { return kSubcommands; }

const Subcommand* find_subcommand(std::string_view name) {
  if (name == "analyse") name = "analyze";  // the British spelling of the same word
  return base::row_named(all_subcommands(), name);
}

}  // namespace fathom::cli

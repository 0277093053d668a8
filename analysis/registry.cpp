// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/registry.h"

#include "analysis/collectives/collectives_view.h"
#include "analysis/lateness/lateness.h"
#include "analysis/path/critical_path.h"
#include "analysis/path/what_if.h"
#include "analysis/phases/phases.h"
#include "analysis/pyrite/issues.h"
#include "analysis/time/efficiency.h"
#include "analysis/time/flat_profile.h"
#include "analysis/time/idle_time.h"
#include "analysis/time/load_imbalance.h"
#include "analysis/time/time_breakdown.h"
#include "analysis/time/time_profile.h"
#include "analysis/time/timeline.h"
#include "analysis/traffic/histograms.h"
#include "analysis/traffic/matrices.h"
#include "analysis/traffic/patterns.h"
#include "analysis/traffic/rank_histograms.h"
#include "analysis/traffic/structure.h"
#include "analysis/traffic/traffic_issues.h"
#include "analysis/waits/barrier_spread.h"
#include "analysis/waits/transfers.h"
#include "analysis/waits/wait_states.h"
#include "base/named_rows.h"

namespace fathom::analysis {
namespace {

// Those with a long or costly answer are not in the default set, so that `fathom analyze` alone stays quick to read.
constexpr Row kRows[] = {
    {"time-breakdown",
     "where the time of all ranks went: computing, waiting, transferring, and what is unexplained",
     Needs::kTimes, true, time_breakdown},
    {"traffic-issues", "problems that the traffic alone reveals", Needs::kProfile, true,
     traffic_issues},
    {"structure",
     "density, peers, locality, imbalance, top ranks and links, shape and blocks of the matrix",
     Needs::kProfile, true, structure},
    {"histograms", "message sizes by class, cumulative by count and by bytes", Needs::kProfile,
     true, histograms},
    {"patterns",
     "shapes of the traffic: grids and their extents, rings, stars, butterflies, all-to-all",
     Needs::kProfile, true, patterns},
    {"matrices", "every pair: by class, communicator, phase and host; sent, received, symmetric",
     Needs::kProfile, false, matrices},
    {"rank-histograms", "message sizes of each rank and class, sent and received", Needs::kTrace,
     false, rank_histograms},
    {"wait-states", "who waited for whom, in which call and how long, and who caused it in the end",
     Needs::kWaits, true, wait_states},
    {"critical-path",
     "the chain of work and calls that makes up the run time; costs of the costliest paths",
     Needs::kPath, true, critical_path},
    {"what-if",
     "the run time that would have been if some of its times had been others (--what-if)",
     Needs::kTrace, false, what_if},
    {"collectives",
     "the messages of each collective: its algorithm, its rounds, the message that delayed it",
     Needs::kTrace, false, collectives},
    {"transfers",
     "each message from post to completion; the unexpected queue; overlap; waits for peer or wire",
     Needs::kTrace, false, transfers},
    {"lateness", "logical steps: which ranks are late in them, and where they fell behind",
     Needs::kTrace, false, lateness},
    {"flat-profile", "time, calls and bytes of each MPI function, by rank and communicator",
     Needs::kTrace, true, flat_profile},
    {"time-profile", "time in each function over the run, in 50 bins", Needs::kTrace, true,
     time_profile},
    {"issues",
     "Pyrite's analysis object: summary, ranks, links, roots, barriers, windows; its fifteen kinds "
     "of issues",
     Needs::kTrace, false, issues},
    {"phases", "iterations and phases, found from the sequence of calls; what each sends",
     Needs::kTrace, true, phases},
    {"load-imbalance",
     "how unevenly each function's time, and the program's own, is spread over the ranks",
     Needs::kTrace, true, load_imbalance},
    {"idle-time",
     "time of each rank: computing, in MPI, in calls that can wait, waiting for others",
     Needs::kTrace, true, idle_time},
    {"barrier-spread", "how far apart ranks arrive at barriers, and who is last", Needs::kTrace,
     true, barrier_spread},
    {"efficiency", "parallel efficiency: load balance x serialisation x transfer (POP)",
     Needs::kTrace, true, efficiency},
    {"comm-over-time", "messages and bytes over the run, in 50 bins", Needs::kTrace, true,
     comm_over_time},
    {"timeline", "what each rank does over the run, between start-up and end, in 480 bins",
     Needs::kTrace, false, timeline},
};

}  // namespace

std::span<const Row> all_analyses() { return kRows; }

base::Result<const Row*> find_analysis(std::string_view name) {
  return base::find_row(all_analyses(), "analysis", name);
}

}  // namespace fathom::analysis

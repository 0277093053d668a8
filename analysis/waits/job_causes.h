// SPDX-License-Identifier: BSD-3-Clause
// The causes of a traced job's waits as findings: all waits that are blamed on the same stretch of
// the program, of whichever ranks, are one finding (wait_causes.h says what a stretch is).
//
// Work that a rank does while it answers all others (hub_of) is one finding wherever it is done:
// there the others wait for their turn. Waits in MPI_Init are left out, because they lie before the
// time that all shares are of.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/results/finding.h"
#include "analysis/scope/input.h"
#include "analysis/waits/wait_steps.h"
#include "trace/code/call_site_names.h"

namespace fathom::analysis {

// A finding for each cause of at least Thresholds::wait_share of `all_ns`, the time of all chosen
// ranks. Their seconds add up to no more than all waits.
std::vector<Finding> cause_findings(const Input& input, const JoinedJob& job, const JobWaits& waits,
                                    trace::CallSiteNames& names, std::uint64_t all_ns);

}  // namespace fathom::analysis

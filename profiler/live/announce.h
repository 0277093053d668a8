// SPDX-License-Identifier: BSD-3-Clause
// Tells the process that keeps the pages of this run on this host that there is one more.
#pragma once

#include <string>

#include "profiler/live/live_page.h"

namespace fathom::profiler {

// Gives the page away (live/announcement.h), which survives this process from then on. If nobody keeps
// pages here and FATHOM_LIVE=sampled asks for it, starts a sampler (live/sampler/), which does. No process
// waits for another; what fails is found by those who look for pages in /proc. Cold: in MPI_Init.
void announce(const LivePage& page, const std::string& run_directory);

}  // namespace fathom::profiler

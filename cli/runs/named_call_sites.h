// SPDX-License-Identifier: BSD-3-Clause
// Names the call sites of a profile: function, file and line, from the program's debug information.
//
// The profiled job only notes where in which file a call is made; looking names up takes a library
// and time that the job should not pay for. `fathom run` adds them to profile.json when the job has
// ended, so that they survive the program being built anew. Of other profiles they are looked up
// when they are shown, as long as the program is still there.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"

namespace fathom::cli {

// Fills in what is known of the sites that have no names yet.
void name_call_sites(std::vector<profile::CallSite>& sites);

// The same for the file itself; it is left alone if no name would be added. Streams: the file may
// be larger than memory.
base::Status name_call_sites_in(const std::string& profile_path);

// As much as is known: "solve (solver.c:120)", "solve", "app+0x1234".
std::string describe(const profile::CallSite& site);

}  // namespace fathom::cli

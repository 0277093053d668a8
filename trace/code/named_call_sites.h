// SPDX-License-Identifier: BSD-3-Clause
// Names the call sites of a profile: function, file and line, from the program's debug information.
//
// The profiled job only notes where in which file a call is made; looking names up takes a library
// and time that the job should not pay for.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"

namespace fathom::trace {

// Fills in what is known of the sites that have no names yet, as long as the program is still
// there.
void name_call_sites(std::vector<profile::CallSite>& sites);

bool has_names(const profile::CallSite& site);

// As much as is known: "solve (solver.c:120)", "solve", "app+0x1234"; empty if the place is none, as
// that of MPI_Finalize, which is not timed.
std::string describe(const profile::CallSite& site);
// As file_or_module() of a CodeSite.
std::string file_or_module(const profile::CallSite& site);

}  // namespace fathom::trace

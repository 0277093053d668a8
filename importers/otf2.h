// SPDX-License-Identifier: BSD-3-Clause
// Reads an OTF2 archive (the anchor file, *.otf2, or the folder that holds it) into a Fathom trace.
//
// One that Fathom wrote comes back event for event. Of one that another tool recorded (EZTrace,
// Score-P) the MPI functions become calls, their arguments taken from the MPI records inside them;
// MpiSend, MpiIsend, MpiRecv and MpiIrecv become messages and requests, collectives calls with root
// and bytes. Regions that are no MPI functions, metrics and other paradigms are left out, and said.
//
// Memory: the definitions, and the events of one call that is open. Input is checked number by
// number; libotf2 itself reads the bytes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::importers {

// Makes `run_directory`/trace. `notes`: sentences about what has no place in a Fathom trace.
base::Status import_otf2(const std::string& path, const std::string& run_directory,
                         std::vector<std::string>& notes);

}  // namespace fathom::importers

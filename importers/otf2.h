// SPDX-License-Identifier: BSD-3-Clause
// Reads an OTF2 archive (the anchor file, *.otf2, or the folder that holds it) into a Fathom trace.
//
// An archive that Fathom wrote comes back event for event. In one that another tool recorded
// (EZTrace, Score-P), MPI functions become calls, with arguments from the MPI records inside them;
// MpiSend, MpiIsend, MpiRecv and MpiIrecv become messages and requests, collectives become calls
// with root and bytes. Regions that are not MPI functions, metrics and other paradigms are left
// out, with a note.
//
// Memory: the definitions, and the events of one open call. All numbers in the input are checked;
// libotf2 itself reads the bytes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::importers {

// Makes `run_directory`/trace. `notes`: sentences about what has no place in a Fathom trace.
base::Status import_otf2(const std::string& path, const std::string& run_directory,
                         std::vector<std::string>& notes);

}  // namespace fathom::importers

// SPDX-License-Identifier: BSD-3-Clause
// Source `pml`: every message at the boundary between MPI and its point-to-point layer.
//
// Open MPI calls its PML through the exported table mca_pml (ompi/mca/pml/pml.h), for the program's
// messages as for those inside collectives. Replacing entries of that table sees every send with
// its destination, tag, communicator and size, on any build of the release and with any PML.
// Persistent sends are started through a function in the request itself, which is replaced as well.
//
// The same table announces every communicator that comes and goes.
//
// Threading: hook() and unhook() while no other thread is inside MPI; the entries from any thread.
#pragma once

namespace fathom::profiler {

// False if the process has no mca_pml.
bool hook_pml();
// Puts the original entries back. Requests that are still persistent keep working.
void unhook_pml();

// Receives too are counted at this boundary, from their completed requests; for sources without
// PERUSE. After hook_pml().
void hook_receives();

}  // namespace fathom::profiler

// SPDX-License-Identifier: BSD-3-Clause
// Source `pml`: counts every message at the boundary between MPI and its point-to-point layer.
//
// Open MPI calls its PML through the exported table mca_pml (ompi/mca/pml/pml.h), both for the
// program's messages and for those inside collectives. The replaced entries of that table see every
// send with its destination, tag, communicator and size, on any build of the release and with any
// PML. Persistent sends start through a function in the request itself, which is replaced as well.
//
// The same table announces every communicator that is made or freed.
//
// Threading: hook_pml() and unhook_pml() when MPI begins and ends, while no other thread sends or
// receives; the entries from any thread.
#pragma once

namespace fathom::profiler {

// False if the process has no mca_pml.
bool hook_pml();
// The same after unhook_pml(), when Open MPI has closed its PML with the last session and opened it
// again. False, and nothing is hooked, if that is not the one of the first time.
bool hook_pml_again();
// Restores the original entries. Persistent requests that still exist keep working.
void unhook_pml();

// Counts receives at this boundary too, from their completed requests; for sources without PERUSE.
// After hook_pml().
void hook_receives();

}  // namespace fathom::profiler

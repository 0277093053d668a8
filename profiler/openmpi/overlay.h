// SPDX-License-Identifier: BSD-3-Clause
// The second half of an overlay (profiler/overlay/overlay.c): with its libmpi, the process must also
// load its pml/ob1, which Open MPI looks for in MPI_Init.
#pragma once

#include <string>

namespace fathom::profiler {

// The folder of the overlay from which libmpi was loaded; empty if it is an installed one.
std::string overlay_in_use();

// Whether this process was offered overlays (FATHOM_OVERLAY).
bool overlay_was_offered();

// Puts the overlay's components in front of Open MPI's path of components, which may be the user's.
// Sets an MCA variable in the environment; the other takes it back. Not thread-safe, like MPI_Init.
void add_overlay_components();
void forget_overlay_components();

}  // namespace fathom::profiler

// SPDX-License-Identifier: BSD-3-Clause
// Overlays: PERUSE for an Open MPI that is installed without it (profiler/overlay/overlay.c says
// what they are, scripts/openmpi.sh builds them).
//
// A second preloaded library makes a rank use an overlay exactly where it was started with the
// libmpi for which that was built. So all overlays of this machine are offered to a job, and each
// rank decides, on its own host; the launcher and everything else of Open MPI stay as they are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/launch/launcher.h"

namespace fathom::cli {

// Folder of what Fathom's scripts build: FATHOM_CACHE, or fathom in the user's cache.
std::string cache_folder();

// Those in FATHOM_OVERLAY (a list with ':'), or in the cache.
std::vector<std::string> overlays();

// The overlay that was built for this libmpi (a path): the file that it replaces is the same, byte
// for byte.
std::optional<std::string> overlay_for(const std::string& libmpi);

// What ranks need to use them: a library to preload, and variables. Empty if there are no overlays,
// or if that library is missing.
struct OverlayOffer {
  std::vector<std::string> libraries;
  Variables variables;
};
OverlayOffer offer_overlays();

}  // namespace fathom::cli

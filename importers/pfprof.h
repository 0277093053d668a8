// SPDX-License-Identifier: BSD-3-Clause
// Reads the output of the reference PERUSE profiler (PFProf, "oxton"): one oxton-result<rank>.json
// for each rank, in a folder or in a .tar, .tar.gz, .tar.bz2, .tar.xz or .tar.zst.
//
// The senders' counts (tx) become the traffic, as that profiler's own simulator uses them; the
// receivers' counts (rx) go into the coverage, with every pair on which the two disagree. They
// often do: small sends within a host are invisible to their senders, and receives from
// MPI_ANY_SOURCE are credited to the wrong rank. Communicators, classes and phases were never
// recorded: everything has the class "unclassified" on MPI_COMM_WORLD.
//
// Any bytes are safe. An Error names the file, and the byte where known. Memory grows with the
// pairs that communicated, plus one rank's file, which must not be larger than 256 MiB.
#pragma once

#include <string>

#include "base/result.h"
#include "profile/profile.h"

namespace fathom::importers {

inline constexpr char kUnclassified[] = "unclassified";

base::Result<profile::Profile> import_pfprof(const std::string& path);

}  // namespace fathom::importers

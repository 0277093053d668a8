// SPDX-License-Identifier: BSD-3-Clause
// Scotch source graph (.grf, version 0): `0`, `n 2m`, `0 010` (ranks from 0, edge weights), then
// one line for each rank: its degree and `weight neighbour` pairs.
#pragma once

#include "exporters/common/exporter.h"

namespace fathom::exporters {

base::Status export_scotch(const profile::Profile& profile, const Options& options,
                           const std::string& path, Notes& notes);

}  // namespace fathom::exporters

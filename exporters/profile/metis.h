// SPDX-License-Identifier: BSD-3-Clause
// METIS and Chaco graph: header `n m 001`, then one line for each rank (counted from 1) with
// `neighbour weight` pairs. Every edge is in both lines; there are no self loops.
#pragma once

#include "exporters/common/exporter.h"

namespace fathom::exporters {

base::Status export_metis(const profile::Profile& profile, const Options& options,
                          const std::string& path, Notes& notes);

}  // namespace fathom::exporters

// SPDX-License-Identifier: BSD-3-Clause
// TreeMatch communication matrix: plain ASCII, one line of N numbers for each rank, no header.
//
// The matrix is symmetric: entry (i, j) is what i sent to j plus what j sent to i. The diagonal is
// 0. The size is ranks squared; memory grows with the pairs.
#pragma once

#include "exporters/common/exporter.h"

namespace fathom::exporters {

base::Status export_treematch(const profile::Profile& profile, const Options& options,
                              const std::string& path, Notes& notes);

}  // namespace fathom::exporters

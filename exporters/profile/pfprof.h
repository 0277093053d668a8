// SPDX-License-Identifier: BSD-3-Clause
// The output format of the reference PERUSE profiler, as its simulator reads it: one
// oxton-result<rank>.json for each rank, with dense tx and rx arrays over all ranks.
//
// Written into a folder, or into one archive if the path ends in .tar or .tar.gz. The size is ranks
// squared; memory grows with the pairs that communicated.
#pragma once

#include "exporters/common/exporter.h"

namespace fathom::exporters {

base::Status export_pfprof(const profile::Profile& profile, const Options& options,
                           const std::string& path, Notes& notes);

}  // namespace fathom::exporters

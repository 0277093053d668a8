// SPDX-License-Identifier: BSD-3-Clause
// The reference PERUSE profiler's output, as its simulator reads it: one oxton-result<rank>.json
// for each rank with dense tx and rx arrays over all ranks.
//
// Into a folder, or into one archive where the path ends in .tar or .tar.gz. Size is ranks squared,
// memory follows the pairs that talked.
#pragma once

#include "exporters/common/exporter.h"

namespace fathom::exporters {

base::Status export_pfprof(const profile::Profile& profile, const Options& options,
                           const std::string& path, Notes& notes);

}  // namespace fathom::exporters

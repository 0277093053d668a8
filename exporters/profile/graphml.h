// SPDX-License-Identifier: BSD-3-Clause
// GraphML, directed: a node for each rank (host), an edge for each pair that communicated (bytes,
// messages).
#pragma once

#include "exporters/common/exporter.h"

namespace fathom::exporters {

base::Status export_graphml(const profile::Profile& profile, const Options& options,
                            const std::string& path, Notes& notes);

}  // namespace fathom::exporters

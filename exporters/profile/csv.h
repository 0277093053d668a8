// SPDX-License-Identifier: BSD-3-Clause
// CSV (RFC 4180, LF line ends): the profile's traffic row by row, without sums.
//
//   source,destination,class,hidden,communicator,phase,bytes,messages
//   0,1,point-to-point,0,0,,120,10
#pragma once

#include "exporters/common/exporter.h"

namespace fathom::exporters {

base::Status export_csv(const profile::Profile& profile, const Options& options,
                        const std::string& path, Notes& notes);

}  // namespace fathom::exporters

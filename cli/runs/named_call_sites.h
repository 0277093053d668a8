// SPDX-License-Identifier: BSD-3-Clause
// Adds the names of call sites (trace/code/named_call_sites.h) to a profile.json.
//
// `fathom run` does so when the job has ended, so that they survive the program being built anew. Of
// other profiles they are looked up when they are shown, as long as the program is still there.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom::cli {

// The file is left alone if no name would be added. Streams: it may be larger than memory.
base::Status name_call_sites_in(const std::string& profile_path);

}  // namespace fathom::cli

// SPDX-License-Identifier: BSD-3-Clause
// FATHOM_LIVE_PORT: where `fathom run --live` takes samples from a job's other hosts.
#pragma once

#include <optional>

#include "base/result.h"

namespace fathom::cli {

// A TCP port; 0, if the variable is unset: any free one; nothing: "none", files carry the samples. An
// Error if it is none of these.
base::Result<std::optional<int>> live_port();

}  // namespace fathom::cli

// SPDX-License-Identifier: BSD-3-Clause
// What the environment says of samples from a job's other hosts, for `fathom run --live`.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"

namespace fathom::cli {

struct LiveSettings {
  // FATHOM_LIVE_PORT: a TCP port; 0, if it is unset: any free one; nothing: "none", files carry the
  // samples.
  std::optional<int> port;
  // FATHOM_LIVE_SUMMARIES: hosts of jobs with more ranks than this send summaries while no reader
  // wants details (live/wire.h).
  std::uint32_t summaries_above;
};

// An Error if a variable has another value.
base::Result<LiveSettings> live_settings();

}  // namespace fathom::cli

// SPDX-License-Identifier: BSD-3-Clause
// Messages that a stuck receive may have been meant for: sent, received by nobody, and different from what the
// receive asks for in one respect.
#pragma once

#include <optional>
#include <string>

#include "live/verdict/wait_graph.h"

namespace fathom::live {

struct NearMiss {
  UnmatchedMessages message;
  std::string text;  // "rank 9 has sent it 1 message with tag 8 instead, which nobody has received"
};

// The nearest one: another tag, then another communicator, then another rank.
std::optional<NearMiss> near_miss(const JobView& view, std::int32_t receiver,
                                  const Pending& receive);

}  // namespace fathom::live

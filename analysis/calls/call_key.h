// SPDX-License-Identifier: BSD-3-Clause
// What the calls in one row of a table have in common.
#pragma once

#include <cstdint>

#include "analysis/engine/step.h"
#include "base/flat_map.h"

namespace fathom::analysis {

struct CallKey {
  std::uint64_t site = 0;  // return address in this process
  std::uint32_t process = 0, function = 0, phase = 0;
  std::int32_t communicator = -1;
  bool operator==(const CallKey&) const = default;
};

struct CallKeyHash {
  std::uint64_t operator()(const CallKey& key) const {
    return base::mixed(
        key.site * 31 ^ base::mixed(std::uint64_t{key.process} << 32 | key.function) ^
        (std::uint64_t{key.phase} << 32 | static_cast<std::uint32_t>(key.communicator)));
  }
};

}  // namespace fathom::analysis

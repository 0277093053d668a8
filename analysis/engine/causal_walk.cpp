// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/causal_walk.h"

namespace fathom::analysis {

bool depends(Flow flow, Direction direction, std::size_t member, std::size_t on, std::size_t root) {
  if (direction == Direction::kBackward) std::swap(member, on);
  switch (flow) {
    case Flow::kBarrier:
    case Flow::kAllToAll: return true;
    case Flow::kFromRoot: return on == root && member != root;
    case Flow::kToRoot: return member == root && on != root;
    case Flow::kPrefix: return on < member;
    case Flow::kNone: break;
  }
  return false;
}

}  // namespace fathom::analysis

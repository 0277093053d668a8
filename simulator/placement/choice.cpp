// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/choice.h"

#include "simulator/placement/registry.h"

namespace fathom::simulator {

std::string PlacementChoice::name() const {
  if (row != nullptr) return row->name;
  return std::string(kRankfilePrefix) + rankfile.substr(rankfile.rfind('/') + 1);
}

base::Result<PlacementChoice> parse_placement(std::string_view text) {
  if (text.starts_with(kRankfilePrefix) && text.size() > kRankfilePrefix.size()) {
    return PlacementChoice{nullptr, std::string(text.substr(kRankfilePrefix.size()))};
  }
  const auto row = find_placement(text);
  if (!row) return base::Error{row.error().message + ", " + std::string(kRankfilePrefix) + "FILE"};
  return PlacementChoice{*row, ""};
}

}  // namespace fathom::simulator

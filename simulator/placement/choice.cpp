// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/choice.h"

#include "simulator/placement/registry.h"

namespace fathom::simulator {

std::string PlacementChoice::name() const {
  if (mapper != nullptr) return mapper->name;
  return std::string(kRankfilePrefix) + rankfile.substr(rankfile.rfind('/') + 1);
}

base::Result<PlacementChoice> find_placement(std::string_view text) {
  if (text.starts_with(kRankfilePrefix) && text.size() > kRankfilePrefix.size()) {
    return PlacementChoice{nullptr, std::string(text.substr(kRankfilePrefix.size()))};
  }
  const auto mapper = find_mapper(text);
  if (!mapper)
    return base::Error{mapper.error().message + ", " + std::string(kRankfilePrefix) + "FILE"};
  return PlacementChoice{*mapper, ""};
}

}  // namespace fathom::simulator

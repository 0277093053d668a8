// SPDX-License-Identifier: BSD-3-Clause
// Networks in which some cables have failed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulator/network/network.h"

namespace fathom::simulator {

// The same nodes and all links except those given. Links get new numbers; the grid, if any, stays.
// Routes that the description gave are dropped, because those of whole pairs of hosts may be cut.
base::Result<Network> without_links(const Network& network, std::span<const LinkId> failed);

// Both directions of all cables between two nodes, "A=B". An Error if there is no such cable.
base::Result<std::vector<LinkId>> find_cables(const Network& network, const std::string& ends);

// Both directions of floor(share * cables) cables between switches, drawn without replacement.
std::vector<LinkId> draw_cables(const Network& network, double share, std::uint64_t seed);

}  // namespace fathom::simulator

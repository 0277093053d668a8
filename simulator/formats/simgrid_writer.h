// SPDX-License-Identifier: BSD-3-Clause
// Any network as a SimGrid platform (XML, version 4.1 of the format).
//
// Hosts, routers for switches, and a SPLITDUPLEX link for each cable, or a SHARED link where the two
// directions differ or there is one only. Slots become cores; the speed of hosts, which a network
// does not have, is 1 Gf. There are two kinds of routes:
//
//   a graph       zone with routing DijkstraCache: SimGrid looks for the fewest links, the first of
//                 equally long paths that it meets. Parallel cables become one link as wide as all
//                 of them, because SimGrid's graphs have no parallel edges. The file grows with the
//                 number of links.
//   written down  zone with routing Full: each route link by link, as a router of Fathom chose it
//                 for one byte between every two hosts. The file grows with the square of the number
//                 of hosts, of which there may be 8192.
//
// A graph cannot say that hosts do not forward, nor which routes are prescribed.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "simulator/network/network.h"
#include "simulator/routing/routing.h"

namespace fathom::simulator {

// Whether a graph would give other routes: some are prescribed, or a host beside switches has links
// to several nodes.
bool needs_written_routes(const Network& network);

// Replaces the file. `router`: nullptr for a graph. An Error if the router finds no path between two
// hosts, or splits what they send.
base::Status write_simgrid_platform(const Network& network, const std::string& path,
                                    const RouterRow* router, const RouterOptions& options = {});

}  // namespace fathom::simulator

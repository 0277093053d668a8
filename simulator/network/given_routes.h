// SPDX-License-Identifier: BSD-3-Clause
// The routes that a cluster's description prescribes. They need not be shortest paths.
//
// Threading: any number of threads may ask at the same time.
#pragma once

#include <vector>

#include "simulator/network/network.h"

namespace fathom::simulator {

class GivenRoutes {
 public:
  virtual ~GivenRoutes() = default;

  // Appends the links from one host to another, in order. False if the description gives no route;
  // what was appended is then of no use.
  virtual bool append(HostId source, HostId destination, std::vector<LinkId>& links) const = 0;
};

}  // namespace fathom::simulator

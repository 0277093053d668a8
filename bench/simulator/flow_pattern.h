// SPDX-License-Identifier: BSD-3-Clause
// The pattern that flow_speed and simgrid_speed simulate, given by their command lines:
//
//   PROGRAM RANKS equal|drawn [torus]
//
// An all-to-all, started at once, on a fat tree of 16 hosts per leaf and 8 spines (half of full
// bisection), links of 12.5 GB/s and 1 µs. equal: 100 kB each; drawn: sizes between 1 B and 200 kB
// from a fixed seed, so that hardly any two flows end together. torus: 4 x 4 x RANKS / 16, where
// paths are longer.
#pragma once

#include <vector>

#include "bench/processor_time.h"
#include "test/simulator/plain_networks.h"

namespace fathom::bench {

struct FlowPattern {
  test::PlainNetwork network;
  std::vector<test::PlainFlow> flows;
};

// If the words are wrong, prints the usage and exits.
FlowPattern flow_pattern(int word_count, char** words);

}  // namespace fathom::bench

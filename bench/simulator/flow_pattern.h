// SPDX-License-Identifier: BSD-3-Clause
// The pattern that flow_speed and simgrid_speed both simulate, named by their command lines:
//
//   PROGRAM RANKS equal|drawn [torus]
//
// An all-to-all, started at once, on a fat tree of 16 hosts a leaf and 8 spines (half of full
// bisection), links of 12.5 GB/s and 1 µs. equal: 100 kB each; drawn: sizes between 1 B and 200 kB,
// of a fixed seed, so that hardly two flows end together. torus: of 4 x 4 x RANKS / 16, where ways
// are longer.
#pragma once

#include <vector>

#include "bench/processor_time.h"
#include "test/simulator/plain_networks.h"

namespace fathom::bench {

struct FlowPattern {
  test::PlainNetwork network;
  std::vector<test::PlainFlow> flows;
};

// Prints how to call the program, and exits, if the words are wrong.
FlowPattern flow_pattern(int word_count, char** words);

}  // namespace fathom::bench

// SPDX-License-Identifier: BSD-3-Clause
// Measures SimGrid on the pattern of flow_pattern.h, in its default update mode. Prints one JSON
// object; "seconds" is processor time from the start of its engine to the last end, without
// building the platform.
#include <algorithm>
#include <cstdio>

#include "bench/simulator/flow_pattern.h"
#include "test/simulator/simgrid_flows.h"

int main(int argc, char** argv) {
  using namespace fathom;
  const bench::FlowPattern pattern = bench::flow_pattern(argc, argv);
  double seconds = 0;
  const auto ends_s = test::ends_by_simgrid(pattern.network, pattern.flows, {}, &seconds);
  std::printf("{\"seconds\": %.6f, \"flows\": %zu, \"last_end_s\": %.9g}\n", seconds,
              pattern.flows.size(), *std::max_element(ends_s.begin(), ends_s.end()));
  return 0;
}

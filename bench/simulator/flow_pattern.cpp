// SPDX-License-Identifier: BSD-3-Clause
#include "bench/simulator/flow_pattern.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace fathom::bench {

FlowPattern flow_pattern(int word_count, char** words) {
  const bool is_torus = word_count == 4 && std::string(words[3]) == "torus";
  const bool complete = word_count == 3 || is_torus;
  const int ranks = complete ? std::atoi(words[1]) : 0;
  const std::string sizes = complete ? words[2] : "";
  if (ranks < 16 || ranks % 16 != 0 || (sizes != "equal" && sizes != "drawn")) {
    std::fprintf(stderr, "usage: %s RANKS equal|drawn [torus] (RANKS: a multiple of 16)\n",
                 words[0]);
    std::exit(2);
  }
  const auto leaves = static_cast<std::uint32_t>(ranks) / 16;
  const simulator::LinkSpeed speed = {12.5e9, 1e-6};
  FlowPattern pattern{is_torus ? test::torus(4, 4, leaves, speed, speed)
                               : test::fat_tree(leaves, 16, 8, speed, speed),
                      {}};
  pattern.flows = test::all_to_all(pattern.network.hosts, 1e5);
  std::mt19937 random(1);
  for (test::PlainFlow& flow : pattern.flows) {
    if (sizes == "drawn") flow.size_bytes = 1 + random() % 200'000;
  }
  return pattern;
}

}  // namespace fathom::bench

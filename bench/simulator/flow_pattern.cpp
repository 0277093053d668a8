#include "bench/simulator/flow_pattern.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace fathom::bench {

FlowPattern flow_pattern(int word_count, char** words) {
  const int ranks = word_count == 3 ? std::atoi(words[1]) : 0;
  const std::string sizes = word_count == 3 ? words[2] : "";
  if (ranks < 16 || ranks % 16 != 0 || (sizes != "equal" && sizes != "drawn")) {
    std::fprintf(stderr, "usage: %s RANKS equal|drawn (RANKS: a multiple of 16)\n", words[0]);
    std::exit(2);
  }
  const auto leaves = static_cast<std::uint32_t>(ranks) / 16;
  FlowPattern pattern{test::fat_tree(leaves, 16, 8, {12.5e9, 1e-6}, {12.5e9, 1e-6}), {}};
  pattern.flows = test::all_to_all(pattern.network.hosts, 1e5);
  std::mt19937 random(1);
  for (test::PlainFlow& flow : pattern.flows) {
    if (sizes == "drawn") flow.size_bytes = 1 + random() % 200'000;
  }
  return pattern;
}

}  // namespace fathom::bench

// SPDX-License-Identifier: BSD-3-Clause
// A job's traffic as an undirected graph of ranks: bytes in both directions added up, by neighbour.
// Memory: 32 bytes per communicating pair.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulator/jobs/job.h"

namespace fathom::simulator {

class RankGraph {
 public:
  struct Neighbour {
    std::uint32_t rank = 0;
    double bytes = 0;
  };

  explicit RankGraph(const Job& job);  // ignores messages to oneself

  std::size_t rank_count() const { return first_.size() - 1; }
  std::span<const Neighbour> of(std::uint32_t rank) const {
    return {neighbours_.data() + first_[rank], neighbours_.data() + first_[rank + 1]};
  }
  double total(std::uint32_t rank) const;  // bytes to and from all other ranks

 private:
  std::vector<std::size_t> first_;  // by rank, plus one final entry
  std::vector<Neighbour> neighbours_;
};

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/jobs/rank_graph.h"

#include "profile/pair_sums.h"

namespace fathom::simulator {

RankGraph::RankGraph(const Job& job) : first_(static_cast<std::size_t>(job.ranks) + 1, 0) {
  const std::vector<profile::PairCount> edges = profile::symmetrised(job.pairs);
  for (const profile::PairCount& edge : edges) {
    if (edge.source == edge.destination) continue;
    ++first_[static_cast<std::size_t>(edge.source) + 1];
    ++first_[static_cast<std::size_t>(edge.destination) + 1];
  }
  for (std::size_t rank = 1; rank < first_.size(); ++rank) first_[rank] += first_[rank - 1];
  neighbours_.resize(first_.back());
  std::vector<std::size_t> next = first_;
  for (const profile::PairCount& edge : edges) {
    if (edge.source == edge.destination) continue;
    const auto bytes = static_cast<double>(edge.bytes);
    neighbours_[next[static_cast<std::size_t>(edge.source)]++] = {
        static_cast<std::uint32_t>(edge.destination), bytes};
    neighbours_[next[static_cast<std::size_t>(edge.destination)]++] = {
        static_cast<std::uint32_t>(edge.source), bytes};
  }
}

double RankGraph::total(std::uint32_t rank) const {
  double sum = 0;
  for (const Neighbour& neighbour : of(rank)) sum += neighbour.bytes;
  return sum;
}

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
// The tables of Pyrite's analysis object as figures and columns of a section, with its names, and
// the additional rows of its export.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/pyrite/issues.h"
#include "base/order/sort_stably.h"

namespace fathom::analysis {

struct IssueRank {
  std::int64_t rank = 0;
  RankCalls calls;
  std::uint64_t bytes_out = 0, bytes_in = 0, messages_out = 0, messages_in = 0, peers_out = 0,
                peers_in = 0;
  std::uint64_t touch_bytes() const { return bytes_out + bytes_in; }
};

// In one communicator, from one rank to another.
struct IssueLink {
  std::int32_t communicator = -1;
  std::int64_t source = 0, destination = 0;
  std::uint64_t bytes = 0, messages = 0, first_ns = 0, last_ns = 0;
  std::vector<std::pair<std::string, std::uint64_t>> calls;  // class and number of messages
};

struct IssueRoot {
  std::int64_t root = 0;
  std::uint64_t calls = 0, bytes = 0;
  std::vector<std::pair<std::string, std::uint64_t>> functions;
};

std::vector<IssueRank> ranks_of(const IssueReport& report, const trace::Definitions& definitions);
std::vector<IssueLink> top_links_of(const IssueReport& report,
                                    const trace::Definitions& definitions);  // 20
std::vector<IssueRoot> roots_of(const IssueReport& report,
                                const trace::Definitions& definitions);  // most bytes first

// The ten ranks with the largest `of(row)`; ranks with 0 are left out.
template <typename Of>
std::vector<IssueRank> top_ranks(std::vector<IssueRank> ranks, Of of);

void lay_out_issues(const IssueReport& report, const trace::Definitions& definitions,
                    Section& section);

template <typename Of>
std::vector<IssueRank> top_ranks(std::vector<IssueRank> ranks, Of of) {
  std::erase_if(ranks, [&](const IssueRank& rank) { return of(rank) == 0; });
  base::sort_stably(ranks, [&](const IssueRank& a, const IssueRank& b) { return of(a) > of(b); });
  ranks.resize(std::min<std::size_t>(ranks.size(), 10));
  return ranks;
}

}  // namespace fathom::analysis

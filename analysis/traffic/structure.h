// SPDX-License-Identifier: BSD-3-Clause
// How the traffic is distributed over ranks, pairs, hosts and the matrix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/results/analysis.h"
#include "analysis/traffic/blocks.h"
#include "profile/profile.h"
#include "profile/summary.h"

namespace fathom::analysis {

// Over the values of all ranks, including zeros.
struct Spread {
  double mean = 0;
  double imbalance = 0;  // max / mean; 0 without traffic
  double cv = 0;         // population standard deviation / mean
};
Spread spread_of(const std::vector<double>& values);

struct RankTraffic {
  std::int64_t rank = 0;
  profile::Volume out, in;
  std::uint64_t peers_out = 0, peers_in = 0;  // different ranks, without itself
  std::uint64_t touch_bytes() const { return out.bytes + in.bytes; }
};

struct TopLink {
  profile::PairCount pair;
  double share = 0;  // of all bytes (messages if there are none)
};

// Traffic within each known place: bytes and messages between different ranks.
struct Locality {
  std::string level;              // "socket", "host"
  profile::Volume inside, known;  // known: the places of both ends are
};

// How far the matrix's entries are from the diagonal, ranks in order.
struct MatrixShape {
  std::int64_t bandwidth = 0;  // largest |source - destination|
  double mean_distance = 0;    // of |source - destination|, by bytes
  double within_8 = 0;         // share of the bytes at most 8 from the diagonal
};

struct Structure {
  std::int64_t ranks = 0;
  std::uint64_t pairs = 0;  // with traffic, without messages to oneself
  double density = 0;       // fraction of the ordered pairs of different ranks
  profile::Volume all, to_itself;
  Spread out, in, touch;              // bytes by rank; messages if no class has bytes
  Spread peers;                       // by rank, out
  std::vector<RankTraffic> per_rank;  // by rank, only those with traffic
  std::vector<TopLink> top_links;     // 20, most bytes first
  std::vector<Locality> locality;     // narrowest level first; only known ones
  MatrixShape shape;
  Blocks blocks;
};

inline constexpr std::size_t kTopRanks = 10;
inline constexpr std::size_t kTopLinks = 20;

// `trace` may be nullptr; it provides the sockets.
Structure structure_of(const profile::Profile& profile, const trace::Trace* trace);

base::Result<Outcome> structure(const Input& input);

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/jobs/patterns.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>

#include "base/named_rows.h"
#include "base/random.h"

namespace fathom::simulator {
namespace {

using Ranks = std::vector<std::int64_t>;

// Extents of the grid of `dimensions` dimensions, as equal as the prime factors of `ranks` permit,
// longest first: the aim of MPI_Dims_create.
std::vector<std::int64_t> grid_of(std::int64_t ranks, std::size_t dimensions) {
  std::vector<std::int64_t> extent(dimensions, 1);
  std::vector<std::int64_t> factors;
  for (std::int64_t factor = 2; factor * factor <= ranks; ++factor) {
    for (; ranks % factor == 0; ranks /= factor) factors.push_back(factor);
  }
  if (ranks > 1) factors.push_back(ranks);
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor) {
    *std::min_element(extent.begin(), extent.end()) *= *factor;
  }
  std::sort(extent.rbegin(), extent.rend());
  return extent;
}

Ranks neighbours(std::int64_t rank, std::int64_t ranks, std::size_t dimensions) {
  Ranks result;
  std::int64_t stride = ranks;
  for (const std::int64_t length : grid_of(ranks, dimensions)) {
    stride /= length;  // the last coordinate runs fastest
    const std::int64_t at = rank / stride % length;
    for (const std::int64_t to : {(at + 1) % length, (at + length - 1) % length}) {
      result.push_back(rank + (to - at) * stride);
    }
  }
  return result;
}

Ranks all_others(std::int64_t, std::int64_t ranks, std::uint64_t) {
  Ranks result(static_cast<std::size_t>(ranks));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

Ranks butterfly(std::int64_t rank, std::int64_t ranks, std::uint64_t) {
  Ranks result;
  for (std::int64_t bit = 1; bit < ranks; bit <<= 1) {
    if ((rank ^ bit) < ranks) result.push_back(rank ^ bit);
  }
  return result;
}

// On the most nearly square grid; ranks outside it have no partner.
Ranks transpose(std::int64_t rank, std::int64_t ranks, std::uint64_t) {
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(ranks)));
  if (rank >= side * side) return {};
  return {rank % side * side + rank / side};
}

// Sorting ranks by a hash would give a permutation but needs all ranks at once. A Feistel network
// over the next power of four, walked until the result is below `ranks`, needs only one rank at a
// time.
Ranks permuted(std::int64_t rank, std::int64_t ranks, std::uint64_t seed) {
  int half = 1;
  while ((std::int64_t{1} << 2 * half) < ranks) ++half;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  auto value = static_cast<std::uint64_t>(rank);
  do {
    std::uint64_t left = value >> half, right = value & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      left ^= base::splitmix64(base::splitmix64(seed + round) ^ right) & mask;
      std::swap(left, right);
    }
    value = left << half | right;
  } while (value >= static_cast<std::uint64_t>(ranks));
  return {static_cast<std::int64_t>(value)};
}

constexpr PatternRow kPatterns[] = {
    {"none", "nothing is sent", [](std::int64_t, std::int64_t, std::uint64_t) { return Ranks{}; }},
    {"ring", "to the next rank",
     [](std::int64_t rank, std::int64_t ranks, std::uint64_t) {
       return Ranks{(rank + 1) % ranks};
     }},
    {"shift", "to the rank half of all ranks away",
     [](std::int64_t rank, std::int64_t ranks, std::uint64_t) {
       return Ranks{(rank + ranks / 2) % ranks};
     }},
    {"all-to-all", "to every other rank", all_others},
    {"gather", "to rank 0", [](std::int64_t, std::int64_t, std::uint64_t) { return Ranks{0}; }},
    {"halo2d", "to the 4 neighbours on a periodic grid",
     [](std::int64_t rank, std::int64_t ranks, std::uint64_t) {
       return neighbours(rank, ranks, 2);
     }},
    {"halo3d", "to the 6 neighbours on a periodic grid",
     [](std::int64_t rank, std::int64_t ranks, std::uint64_t) {
       return neighbours(rank, ranks, 3);
     }},
    {"butterfly", "to the ranks that differ in one bit, as recursive doubling does", butterfly},
    {"transpose", "from row, column to column, row of a square grid", transpose},
    {"permutation", "to one rank, drawn; each rank gets at most one message", permuted},
};

// By rank 0's partners: no other rank has more, unless rank 0 has only itself, or none.
base::Status check_pairs(const PatternRow& pattern, std::int64_t ranks, const Ranks& of_rank_0) {
  const auto others = static_cast<double>(of_rank_0.size()) -
                      static_cast<double>(std::count(of_rank_0.begin(), of_rank_0.end(), 0));
  const double pairs = std::max(others, 1.0) * static_cast<double>(ranks);
  if (pairs <= kMostPairs) return base::Done{};
  char text[160];
  std::snprintf(text, sizeof text,
                "pattern %s of %.15g ranks has %.15g pairs; at most %.15g can be simulated",
                pattern.name, static_cast<double>(ranks), pairs, kMostPairs);
  return base::Error{text};
}

}  // namespace

std::span<const PatternRow> patterns() { return kPatterns; }

base::Result<const PatternRow*> find_pattern(std::string_view name) {
  return base::find_row(patterns(), "pattern", name);
}

base::Result<Job> make_pattern(const PatternRow& pattern, std::int64_t ranks, std::uint64_t bytes,
                               std::uint64_t seed) {
  if (ranks < 1) return base::Error{"a job needs at least one rank"};
  if (ranks > kMostRanks) {
    return base::Error{"a job of " + std::to_string(ranks) + " ranks is too large; at most " +
                       std::to_string(kMostRanks) + " can be simulated"};
  }
  Job job{pattern.name, ranks, {}};
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    Ranks partners = pattern.partners(rank, ranks, seed);
    std::sort(partners.begin(), partners.end());
    partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
    if (rank == 0) {
      if (auto fits = check_pairs(pattern, ranks, partners); !fits) return fits.error();
    }
    for (const std::int64_t partner : partners) {
      if (partner != rank) job.pairs.push_back({rank, partner, bytes, 1});
    }
  }
  return job;
}

}  // namespace fathom::simulator

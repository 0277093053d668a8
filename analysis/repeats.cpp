// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/repeats.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace fathom::analysis {
namespace {

constexpr std::size_t kMostExact = 60;  // more would overflow no double, but take seconds

// Twice the rank of each value among all of them, so that the mean of two ranks is a whole number.
std::vector<std::int64_t> doubled_ranks(const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int64_t> ranks;
  for (const double value : values) {
    const auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), value);
    ranks.push_back((low - sorted.begin()) + 1 + (high - sorted.begin()));
  }
  return ranks;
}

// ways[s]: in how many ways `size` of the ranks have the sum s.
std::vector<double> ways_to_choose(const std::vector<std::int64_t>& ranks, std::size_t size) {
  std::int64_t whole = 0;
  for (const std::int64_t rank : ranks) whole += rank;
  const auto sums = static_cast<std::size_t>(whole) + 1;
  std::vector<std::vector<double>> ways(size + 1, std::vector<double>(sums));
  ways[0][0] = 1;
  for (const std::int64_t rank : ranks) {
    const auto step = static_cast<std::size_t>(rank);
    for (std::size_t chosen = size; chosen > 0; --chosen) {
      for (std::size_t sum = sums; sum-- > step;) ways[chosen][sum] += ways[chosen - 1][sum - step];
    }
  }
  return std::move(ways[size]);
}

double exact(const std::vector<std::int64_t>& ranks, std::size_t size, double distance) {
  const std::vector<double> ways = ways_to_choose(ranks, size);
  const double middle = static_cast<double>(size) * static_cast<double>(ranks.size() + 1);
  double all = 0, as_far = 0;
  for (std::size_t sum = 0; sum < ways.size(); ++sum) {
    all += ways[sum];
    if (std::abs(static_cast<double>(sum) - middle) >= distance) as_far += ways[sum];
  }
  return as_far / all;
}

double approximate(const std::vector<std::int64_t>& ranks, std::size_t size, double distance) {
  const auto count = static_cast<double>(ranks.size()), in_first = static_cast<double>(size);
  double squares = 0;  // of the doubled ranks' distances from their mean
  for (const std::int64_t rank : ranks)
    squares += std::pow(static_cast<double>(rank) - (count + 1), 2);
  const double variance = in_first * (count - in_first) * squares / (count * (count - 1));
  if (variance <= 0) return 1;
  const double beyond = std::max(0.0, distance - 1);  // half a rank, for continuity
  return std::erfc(beyond / std::sqrt(2 * variance));
}

}  // namespace

Repeats repeats_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {median, values.front(), values.back()};
}

double mann_whitney(const std::vector<double>& first, const std::vector<double>& second) {
  if (first.empty() || second.empty()) return 1;
  std::vector<double> values = first;
  values.insert(values.end(), second.begin(), second.end());
  const std::vector<std::int64_t> ranks = doubled_ranks(values);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < first.size(); ++i) sum += ranks[i];
  const std::int64_t middle = std::ssize(first) * (std::ssize(values) + 1);
  const auto distance = static_cast<double>(std::abs(sum - middle));
  return values.size() <= kMostExact ? exact(ranks, first.size(), distance)
                                     : approximate(ranks, first.size(), distance);
}

bool can_differ(std::size_t first, std::size_t second) {
  double ways = 1;  // to choose the first sample
  for (std::size_t i = 1; i <= std::min(first, second); ++i)
    ways *= static_cast<double>(first + second + 1 - i) / static_cast<double>(i);
  return 2 / ways < kSignificant;
}

}  // namespace fathom::analysis

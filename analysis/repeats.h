// SPDX-License-Identifier: BSD-3-Clause
// What several measurements of the same thing say, and whether two sets of them differ by more than
// chance.
#pragma once

#include <cstddef>
#include <vector>

namespace fathom::analysis {

// Below this probability, a difference is not put down to chance.
inline constexpr double kSignificant = 0.05;

struct Repeats {
  double median = 0, least = 0, most = 0;  // all 0 without measurements
};

Repeats repeats_of(std::vector<double> values);

// The probability that two samples from one distribution differ at least as much as these two: the
// two-sided Mann-Whitney test (Mann and Whitney, Annals of Mathematical Statistics 18, 1947), which
// compares ranks and assumes no distribution of the values. Exact, also with equal values, for up to
// 60 measurements: all ways to divide them into samples of these sizes are counted. With more, the
// normal approximation with its correction for ties. 1 if one of the samples is empty.
double mann_whitney(const std::vector<double>& first, const std::vector<double>& second);

// Whether samples of these sizes can be significantly different at all: 4 and 4 can, 3 and 3 cannot.
bool can_differ(std::size_t first, std::size_t second);

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
// Repeats of a measurement, and comparisons of them.
#include "analysis/repeats.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "analysis/compare.h"

namespace fathom::analysis {
namespace {

using Values = std::vector<double>;

// The share of all divisions of the values whose first sample is as far from the middle as this one.
double by_enumeration(const Values& first, const Values& second) {
  Values all = first;
  all.insert(all.end(), second.begin(), second.end());
  const auto rank = [&](double value) {
    double sum = 0.5;
    for (const double other : all) sum += other < value ? 1 : other == value ? 0.5 : 0;
    return sum;
  };
  std::vector<bool> chosen(all.size());
  std::fill(chosen.begin(), chosen.begin() + std::ssize(first), true);
  const auto distance = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) sum += chosen[i] ? rank(all[i]) : 0;
    return std::abs(sum - static_cast<double>(first.size() * (all.size() + 1)) / 2);
  };
  const double seen = distance();
  std::sort(chosen.begin(), chosen.end());
  double ways = 0, as_far = 0;
  do {
    ++ways;
    as_far += distance() >= seen - 1e-9 ? 1 : 0;
  } while (std::next_permutation(chosen.begin(), chosen.end()));
  return as_far / ways;
}

// A profile of two ranks with one class of traffic and these times.
profile::Profile timed(double seconds, std::uint64_t allreduce_ns) {
  profile::Profile made;
  made.world_size = 2;
  made.application.seconds = seconds;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    profile::Rank row;
    row.rank = rank;
    row.seconds = seconds;
    made.ranks.push_back(row);
  }
  profile::CallTimes calls;
  calls.function = "MPI_Allreduce";
  calls.phase = "solve";
  calls.rank = {0, 1};
  calls.calls = {1, 1};
  calls.total_ns = calls.shortest_ns = calls.longest_ns = {allreduce_ns, allreduce_ns};
  calls.bytes = {8, 8};
  made.calls.push_back(calls);
  made.call_sites.push_back({});
  return made;
}

// Runs of these seconds, the last `last` of which are the program as it is now.
Comparison compared(const Values& seconds, std::size_t last) {
  std::vector<profile::Profile> made;
  for (const double value : seconds)
    made.push_back(timed(value, static_cast<std::uint64_t>(value * 1e8)));
  std::vector<const profile::Profile*> profiles;
  std::vector<std::string> names;
  for (const profile::Profile& one : made) {
    profiles.push_back(&one);
    names.push_back("r" + std::to_string(names.size()));
  }
  auto comparison = compare_profiles(profiles, names, {seconds.size() - last, last});
  REQUIRE(comparison.ok());
  compare_calls(profiles, *comparison);
  return *comparison;
}

bool exceeded(const Comparison& comparison, const std::string& text) {
  const auto limit = parse_limit(text);
  REQUIRE(limit.ok());
  const auto checked = check_limit(comparison, *limit);
  REQUIRE(checked.ok());
  return checked->is_exceeded;
}

TEST_CASE("repeats have a median and a spread") {
  CHECK(repeats_of({}).median == 0);
  CHECK(repeats_of({3}).median == 3);
  const Repeats four = repeats_of({4, 1, 9, 2});
  CHECK(four.median == 3);
  CHECK(four.least == 1);
  CHECK(four.most == 9);
}

TEST_CASE("the Mann-Whitney test is exact for few values, with ties") {
  CHECK(mann_whitney({1, 2, 3, 4}, {5, 6, 7, 8}) == doctest::Approx(2.0 / 70));
  CHECK(mann_whitney({1.1, 2.5, 9, 3.2, 4}, {2, 3, 5, 7, 8.5, 6}) ==
        doctest::Approx(0.5367965367965368));  // scipy.stats.mannwhitneyu(method='exact')
  CHECK(mann_whitney({5, 5}, {5, 5, 5}) == 1);
  CHECK(mann_whitney({}, {1}) == 1);
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    Values first(1 + random() % 5), second(1 + random() % 6);
    for (double& value : first) value = static_cast<double>(random() % 6);
    for (double& value : second) value = static_cast<double>(random() % 6 + random() % 3);
    CHECK(mann_whitney(first, second) == doctest::Approx(by_enumeration(first, second)));
  }
}

TEST_CASE("the Mann-Whitney test of many values is that of the normal distribution") {
  Values first, second;
  for (int i = 0; i < 40; ++i) first.push_back(7 * i % 23);
  for (int i = 0; i < 35; ++i) second.push_back(5 * i % 19 + 4);
  CHECK(mann_whitney(first, second) ==  // scipy.stats.mannwhitneyu(method='asymptotic')
        doctest::Approx(0.2465426624990854).epsilon(1e-9));
}

TEST_CASE("four repeats of each are the fewest that can differ by more than chance") {
  CHECK_FALSE(can_differ(1, 1));
  CHECK_FALSE(can_differ(3, 3));
  CHECK_FALSE(can_differ(1, 30));
  CHECK(can_differ(3, 5));
  CHECK(can_differ(4, 4));
}

TEST_CASE("sides of a comparison are compared by their medians") {
  const Comparison comparison = compared({10, 10.2, 9.9, 10.1, 11, 11.4, 11.2, 11.1}, 4);
  REQUIRE(comparison.totals.size() == 4);  // no waits in these profiles
  CHECK(comparison.totals[0].quantity == "seconds");
  CHECK(comparison.totals[0].value.first.median == doctest::Approx(10.05));
  CHECK(comparison.totals[0].value.last.median == doctest::Approx(11.15));
  CHECK(comparison.totals[0].value.p == doctest::Approx(2.0 / 70));
  REQUIRE(comparison.phases.size() == 1);
  CHECK(comparison.phases[0].name == "solve");
  CHECK(comparison.phases[0].seconds.last.median == doctest::Approx(1.115));
}

TEST_CASE("a limit is exceeded by more than it, and by more than chance explains") {
  const Values slower{10, 10.2, 9.9, 10.1, 11, 11.4, 11.2, 11.1};
  CHECK(exceeded(compared(slower, 4), "seconds=5%"));
  CHECK(exceeded(compared(slower, 4), "MPI_Allreduce=5"));
  CHECK(exceeded(compared(slower, 4), "phase:solve=10%"));
  CHECK_FALSE(exceeded(compared(slower, 4), "seconds=12%"));
  CHECK_FALSE(exceeded(compared(slower, 4), "bytes=0%"));
  // The medians differ by 10 %, but the sides overlap.
  CHECK_FALSE(exceeded(compared({10, 12, 9.9, 10.1, 11, 9, 11.2, 11.1}, 4), "seconds=5%"));
  // Too few to tell: the medians decide.
  CHECK(exceeded(compared({10, 11}, 1), "seconds=5%"));
  CHECK(exceeded(compared({10, 10.1, 11, 11.2}, 2), "seconds=5%"));
}

TEST_CASE("limits and sides that mean nothing are refused") {
  for (const char* text :
       {"seconds", "=5%", "seconds=", "seconds=5%%", "seconds=much", "seconds=inf"})
    CHECK_FALSE(parse_limit(text).ok());
  CHECK_FALSE(check_limit(compared({10, 11}, 1), {"waiting_seconds", 5}).ok());
  profile::Profile two = timed(1, 1), three = timed(1, 1);
  three.world_size = 3;
  three.ranks.push_back(three.ranks.back());
  three.ranks.back().rank = 2;
  CHECK_FALSE(compare_profiles({&two, &two, &two}, {"a", "b", "c"}, {2, 2}).ok());
  CHECK_FALSE(compare_profiles({&two, &two, &three}, {"a", "b", "c"}, {2, 1}).ok());
}

}  // namespace
}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
// Phases and jobs on a few links, with times worked out by hand.
#include "simulator/flow/phases.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::simulator {
namespace {

const std::vector<std::uint32_t> kFirst = {0}, kSecond = {1}, kBoth = {0, 1};

std::vector<JobTime> together(const std::vector<LinkSpeed>& links,
                              const std::vector<PhasedJob>& jobs) {
  FlowModel model = *FlowModel::create(links);
  auto times = run_together(model, jobs);
  REQUIRE(times.ok());
  return *times;
}

TEST_CASE("a phase ends with its last flow, and the next computes before it sends") {
  const PhasedJob job{1,
                      {{2, {{kFirst, 30}, {kSecond, 10}}}, {0, {}}, {5, {{kBoth, 10}}}, {4, {}}}};
  const auto times = together({{10, 0}, {10, 0.5}}, {job});
  REQUIRE(times[0].phases.size() == 4);
  CHECK(times[0].phases[0].start_s == doctest::Approx(3));
  CHECK(times[0].phases[0].end_s == doctest::Approx(6));
  CHECK(times[0].phases[1].end_s == doctest::Approx(6));
  CHECK(times[0].phases[2].start_s == doctest::Approx(11));
  CHECK(times[0].phases[2].end_s == doctest::Approx(12.5));
  CHECK(times[0].end_s == doctest::Approx(16.5));
  CHECK(times[0].duration_s == doctest::Approx(15.5));
}

TEST_CASE("jobs slow each other down only where they share a link") {
  const PhasedJob a{0, {{0, {{kFirst, 40}}}, {0, {{kFirst, 40}}}}};
  const PhasedJob b{2, {{0, {{kFirst, 20}}}}};
  const PhasedJob c{0, {{0, {{kSecond, 50}}}}};
  const std::vector<LinkSpeed> links = {{10, 0}, {10, 0}};
  const auto times = together(links, {a, b, c});
  // a alone until 2 (20 left); both at 5 B/s until 6, when b and a's first phase end; then a
  // until 10.
  CHECK(times[0].phases[0].end_s == doctest::Approx(6));
  CHECK(times[0].end_s == doctest::Approx(10));
  CHECK(times[1].end_s == doctest::Approx(6));
  CHECK(times[2].end_s == doctest::Approx(5));
  CHECK(together(links, {a})[0].duration_s == doctest::Approx(8));
  CHECK(together(links, {b})[0].duration_s == doctest::Approx(2));
  CHECK(together(links, {c})[0].duration_s == doctest::Approx(5));
}

TEST_CASE("a job without phases ends when it starts, and errors name the job or link") {
  const auto times = together({{1, 0}}, {PhasedJob{3, {}}});
  CHECK(times[0].end_s == 3);
  CHECK(times[0].duration_s == 0);
  FlowModel model = *FlowModel::create({{1, 0}});
  const std::vector<PhasedJob> late = {{0, {{-1, {}}}}};
  CHECK(run_together(model, late).error().message.find("job 0") != std::string::npos);
  const std::vector<PhasedJob> lost = {{0, {{0, {{kSecond, 1}}}}}};
  CHECK(run_together(model, lost).error().message.find("link 1") != std::string::npos);
}

}  // namespace
}  // namespace fathom::simulator

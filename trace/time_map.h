// SPDX-License-Identifier: BSD-3-Clause
// Converts the ticks of a process to nanoseconds of the run (docs/trace-format.md, "Time").
//
// In two steps, each linear between measured moments, with the average rate beyond them:
//   ticks -> CLOCK_MONOTONIC of the host, from the ClockRows of the process;
//   CLOCK_MONOTONIC of the host -> that of the reference host, from all ClockRows of the host that
//   hold a reference_ns. A host without any is placed by its real-time clock, with a problem noted.
// Both only go forward; moments that would make them run backwards are left out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/format/format.h"

namespace fathom::trace {

// An increasing function, linear between points.
class TimeMap {
 public:
  struct Point {
    std::uint64_t from = 0;
    std::int64_t to = 0;
  };

  TimeMap() : TimeMap({}, 1, 0.5, 2) {}
  // `rate` applies outside the points, and where there is only one; measured rates are kept within
  // the limits. Without points: to = rate * from.
  TimeMap(std::vector<Point> points, double rate, double least_rate, double most_rate);

  std::int64_t operator()(std::uint64_t from) const { return at(segment_of(from), from); }

  // For times that mostly increase: keep the segment between calls.
  struct Segment {
    std::uint64_t begin = 0, end = 0;  // of `from`; end is excluded
    std::uint64_t from = 0;
    std::int64_t to = 0;
    double rate = 1;
  };
  Segment segment_of(std::uint64_t from) const;
  static std::int64_t at(const Segment& segment, std::uint64_t from) {
    // Far beyond any real time (damaged files) the result stops growing.
    constexpr double kMost = 2e18;
    const bool forward = from >= segment.from;
    double step =
        static_cast<double>(forward ? from - segment.from : segment.from - from) * segment.rate;
    if (step > kMost) step = kMost;
    const auto rounded = static_cast<std::int64_t>(step + 0.5);
    return segment.to + (forward ? rounded : -rounded);
  }

  // The `from` that gives this result; exact up to rounding.
  std::uint64_t inverse(std::int64_t to) const;

  double rate() const { return rate_; }
  const std::vector<Point>& points() const { return points_; }

 private:
  std::vector<Point> points_;
  double rate_;
};

struct ProcessClock {  // what a process recorded about its clock
  std::string host;
  std::string kind;  // "tsc", "monotonic"
  std::vector<ClockRow> moments;
};

struct RunClock {
  std::vector<TimeMap>
      to_reference_ns;  // by process: ticks -> CLOCK_MONOTONIC of the reference host
  std::vector<std::uint64_t> uncertainty_ns;  // by process
  std::vector<std::string> problems;          // by process; usually empty
  std::int64_t unix_less_reference_ns = 0;    // reference time plus this = time since 1970
};

// `processes`: of one run. The reference is the host of the first one whose clock is known.
RunClock bring_clocks_together(const std::vector<ProcessClock>& processes);

}  // namespace fathom::trace

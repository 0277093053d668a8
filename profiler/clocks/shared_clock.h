// SPDX-License-Identifier: BSD-3-Clause
// Relates this process's ticks to nanoseconds that all processes of the job share: straight lines
// between the moments at which both were read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom::profiler {

class SharedClock {
 public:
  // In order of time. `uncertainty_ns`: of the shared time.
  void add(std::uint64_t ticks, std::uint64_t ns, std::uint64_t uncertainty_ns) {
    if (!points_.empty() && ticks <= points_.back().ticks) return;
    points_.push_back({ticks, static_cast<std::int64_t>(ns)});
    uncertainty_ns_ = std::max(uncertainty_ns_, static_cast<std::int64_t>(uncertainty_ns));
  }

  // Needs two points. Before the first and after the last the lines go on.
  std::int64_t at(std::uint64_t ticks) const {
    const auto inner =
        std::lower_bound(points_.begin() + 1, points_.end() - 1, ticks,
                         [](const Point& one, std::uint64_t moment) { return one.ticks < moment; });
    const Point& point = *(inner - 1);
    return point.ns + static_cast<std::int64_t>(
                          static_cast<double>(static_cast<std::int64_t>(ticks - point.ticks)) *
                          rate(point, *inner));
  }
  bool is_known() const { return points_.size() >= 2; }
  double ns_per_tick() const { return rate(points_.front(), points_.back()); }
  std::int64_t uncertainty_ns() const { return uncertainty_ns_; }

 private:
  struct Point {
    std::uint64_t ticks;
    std::int64_t ns;
  };
  static double rate(const Point& from, const Point& to) {
    return static_cast<double>(to.ns - from.ns) / static_cast<double>(to.ticks - from.ticks);
  }

  std::vector<Point> points_;
  std::int64_t uncertainty_ns_ = 0;
};

}  // namespace fathom::profiler

// SPDX-License-Identifier: BSD-3-Clause
#include "trace/time_map.h"

#include <algorithm>
#include <cmath>

namespace fathom::trace {
namespace {

// No clock that measures time leaves these limits.
constexpr double kSlowestTick = 1e-3, kFastestTick = 1e6;  // nanoseconds for each tick
constexpr double kSlowestHost = 0.999,
                 kFastestHost = 1.001;     // CLOCK_MONOTONIC is steered by at most 500 ppm
constexpr double kMostDrift = 2 * 500e-6;  // of one such clock against another
constexpr std::uint64_t kMostTime = std::uint64_t{1} << 61;  // later moments are damaged rows

// Moments closer than this give no rate: reading the clocks takes a part of the distance.
constexpr std::uint64_t kLeastBaseline_ns = 1'000'000;

bool is_usable(const ClockRow& row) {
  return row.monotonic_ns < kMostTime && row.unix_ns < kMostTime && row.reference_ns < kMostTime;
}

std::int64_t less(std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(a - b); }

double average_rate(const std::vector<TimeMap::Point>& points, double otherwise) {
  if (points.size() < 2) return otherwise;
  const double to = static_cast<double>(points.back().to - points.front().to);
  if (to < static_cast<double>(kLeastBaseline_ns)) return otherwise;
  return to / static_cast<double>(points.back().from - points.front().from);
}

struct Measurement {
  TimeMap::Point point;  // CLOCK_MONOTONIC here and there
  std::uint64_t uncertainty_ns;
};

// Sorts the measurements and drops each that says less about its own moment than another one does,
// however the clocks drifted between the two. On a busy host, one process may measure to a
// millisecond and its neighbour to a microsecond.
void keep_the_best(std::vector<Measurement>& all) {
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.point.from < b.point.from; });
  std::vector<bool> dropped(all.size());
  const auto sweep = [&](std::size_t first, std::size_t step, bool also_equal) {
    double best = HUGE_VAL;  // uncertainty, as it has grown until the moment `at`
    double at = 0;
    for (std::size_t n = 0, i = first; n < all.size(); ++n, i += step) {
      const double here = static_cast<double>(all[i].point.from);
      const double own = static_cast<double>(all[i].uncertainty_ns);
      best += kMostDrift * std::abs(here - at);
      at = here;
      if (also_equal ? best <= own : best < own) dropped[i] = true;
      best = std::min(best, own);
    }
  };
  if (all.empty()) return;
  sweep(0, 1, true);
  sweep(all.size() - 1, ~std::size_t{0}, false);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!dropped[i]) all[kept++] = all[i];
  all.resize(kept);
}

struct HostClock {
  std::vector<Measurement> measurements;
  std::vector<TimeMap::Point> reference;  // of those that are kept
  std::uint64_t uncertainty_ns = 0;       // the largest of them
  bool has_unix = false;
  std::int64_t unix_less_monotonic_ns = 0;
  double rate = 0;  // nanoseconds per tick, from a process that ran for long; 0: not known
  TimeMap to_reference;
  std::string problem;
};

class Hosts {
 public:
  void add(const ProcessClock& process) {
    HostClock& host = hosts_[process.host];
    for (const ClockRow& row : process.moments) {
      if (!is_usable(row)) continue;
      if (!host.has_unix) {
        host.has_unix = true;
        host.unix_less_monotonic_ns = less(row.unix_ns, row.monotonic_ns);
      }
      if (row.reference_ns == 0) continue;
      host.measurements.push_back(
          {{row.monotonic_ns, static_cast<std::int64_t>(row.reference_ns)}, row.uncertainty_ns});
    }
  }

  // Makes the CLOCK_MONOTONIC of host `name` the reference, unless the host's rows say otherwise.
  void settle(const std::string& name) {
    HostClock& first = hosts_[name];
    for (auto& [host_name, host] : hosts_) {
      keep_the_best(host.measurements);
      for (const Measurement& one : host.measurements) {
        host.reference.push_back(one.point);
        host.uncertainty_ns = std::max(host.uncertainty_ns, one.uncertainty_ns);
      }
    }
    const bool first_is_reference = first.reference.empty();
    settle_host(first, 0, true);
    unix_less_reference_ns_ = first.unix_less_monotonic_ns;
    if (!first_is_reference) {
      const TimeMap::Point& point = first.reference.front();
      unix_less_reference_ns_ -= point.to - static_cast<std::int64_t>(point.from);
    }
    for (auto& [host_name, host] : hosts_) {
      if (host_name == name) continue;
      settle_host(host, host.unix_less_monotonic_ns - unix_less_reference_ns_, host.has_unix);
      if (!host.reference.empty()) continue;
      host.problem =
          host.has_unix ? "the clock of host " + host_name +
                              " was not measured against the others; its times come from its "
                              "real-time clock"
                        : "the clock of host " + host_name + " is not known; its times are its own";
    }
  }

  HostClock& host(const std::string& name) { return hosts_[name]; }
  std::int64_t unix_less_reference_ns() const { return unix_less_reference_ns_; }

 private:
  static void settle_host(HostClock& host, std::int64_t offset_ns, bool has_offset) {
    if (host.reference.empty()) {
      constexpr auto kMost = static_cast<std::int64_t>(kMostTime);
      const std::int64_t offset = has_offset ? std::clamp(offset_ns, -kMost, kMost) : 0;
      host.to_reference = TimeMap({{0, offset}}, 1, kSlowestHost, kFastestHost);
      return;
    }
    host.to_reference =
        TimeMap(host.reference, average_rate(host.reference, 1), kSlowestHost, kFastestHost);
  }

  std::map<std::string, HostClock> hosts_;
  std::int64_t unix_less_reference_ns_ = 0;
};

TimeMap ticks_to_monotonic(const ProcessClock& process, double host_rate) {
  // The clock "monotonic" is CLOCK_MONOTONIC itself.
  if (process.kind == "monotonic") return TimeMap({{0, 0}}, 1, 1, 1);
  std::vector<TimeMap::Point> points;
  for (const ClockRow& row : process.moments) {
    if (is_usable(row)) points.push_back({row.ticks, static_cast<std::int64_t>(row.monotonic_ns)});
  }
  std::sort(points.begin(), points.end(),
            [](const auto& a, const auto& b) { return a.from < b.from; });
  const double rate = average_rate(points, host_rate > 0 ? host_rate : 1);
  return TimeMap(std::move(points), rate, kSlowestTick, kFastestTick);
}

// First `first`, then `second`; has a bend wherever either has one while the process ran.
TimeMap chained(const TimeMap& first, const TimeMap& second) {
  std::vector<TimeMap::Point> points;
  if (first.points().empty()) return first;
  const std::int64_t begin = first.points().front().to, end = first.points().back().to;
  for (const TimeMap::Point& point : first.points()) {
    points.push_back(
        {point.from, second(static_cast<std::uint64_t>(std::max<std::int64_t>(point.to, 0)))});
  }
  for (const TimeMap::Point& point : second.points()) {
    const auto from = static_cast<std::int64_t>(point.from);
    if (from <= begin || from >= end) continue;
    points.push_back({first.inverse(from), point.to});
  }
  std::sort(points.begin(), points.end(),
            [](const auto& a, const auto& b) { return a.from < b.from; });
  return TimeMap(std::move(points), first.rate() * second.rate(), kSlowestTick * kSlowestHost,
                 kFastestTick * kFastestHost);
}

}  // namespace

TimeMap::TimeMap(std::vector<Point> points, double rate, double least_rate, double most_rate)
    : rate_(std::clamp(rate, least_rate, most_rate)) {
  for (const Point& point : points) {
    if (!points_.empty()) {
      const Point& last = points_.back();
      if (point.from <= last.from || point.to < last.to) continue;
      const double between =
          static_cast<double>(point.to - last.to) / static_cast<double>(point.from - last.from);
      if (between < least_rate || between > most_rate) continue;
    }
    points_.push_back(point);
  }
}

TimeMap::Segment TimeMap::segment_of(std::uint64_t from) const {
  constexpr std::uint64_t kEnd = ~std::uint64_t{0};
  if (points_.empty()) return {0, kEnd, 0, 0, rate_};
  const auto next =
      std::upper_bound(points_.begin(), points_.end(), from,
                       [](std::uint64_t value, const Point& point) { return value < point.from; });
  if (next == points_.begin()) return {0, next->from, next->from, next->to, rate_};
  const Point& last = *(next - 1);
  if (next == points_.end()) return {last.from, kEnd, last.from, last.to, rate_};
  const double rate =
      static_cast<double>(next->to - last.to) / static_cast<double>(next->from - last.from);
  return {last.from, next->from, last.from, last.to, rate};
}

std::uint64_t TimeMap::inverse(std::int64_t to) const {
  Point base{0, 0};
  double rate = rate_;
  if (!points_.empty()) {
    const auto next =
        std::upper_bound(points_.begin(), points_.end(), to,
                         [](std::int64_t value, const Point& point) { return value < point.to; });
    base = next == points_.begin() ? *next : *(next - 1);
    if (next != points_.begin() && next != points_.end()) {
      rate = static_cast<double>(next->to - base.to) / static_cast<double>(next->from - base.from);
    }
  }
  const double step = std::clamp(static_cast<double>(to - base.to) / rate, -9e18, 9e18);
  if (step < -static_cast<double>(base.from)) return 0;
  return base.from + static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
}

RunClock bring_clocks_together(const std::vector<ProcessClock>& processes) {
  RunClock run;
  if (processes.empty()) return run;
  Hosts hosts;
  std::vector<TimeMap> own;
  for (const ProcessClock& process : processes) {
    hosts.add(process);
    own.push_back(ticks_to_monotonic(process, 0));
    if (own.back().points().size() > 1) hosts.host(process.host).rate = own.back().rate();
  }
  // A process without definitions cannot be the reference: all others would lose their time.
  const auto has_clock = [](const ProcessClock& process) {
    return std::any_of(process.moments.begin(), process.moments.end(), is_usable);
  };
  const auto first = std::find_if(processes.begin(), processes.end(), has_clock);
  hosts.settle(first == processes.end() ? processes.front().host : first->host);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const HostClock& host = hosts.host(processes[i].host);
    // A process that was killed at once has no rate of its own; it uses that of its neighbours,
    // which is the same.
    if (own[i].points().size() < 2) own[i] = ticks_to_monotonic(processes[i], host.rate);
    const bool is_monotonic = processes[i].kind == "monotonic";
    run.to_reference_ns.push_back(is_monotonic ? host.to_reference
                                               : chained(own[i], host.to_reference));
    run.uncertainty_ns.push_back(host.uncertainty_ns);
    run.problems.push_back(host.problem);
    if (own[i].points().empty()) {
      run.problems.back() =
          "the clock of the process was not recorded; its times are counted in ticks";
    }
  }
  run.unix_less_reference_ns = hosts.unix_less_reference_ns();
  return run;
}

}  // namespace fathom::trace

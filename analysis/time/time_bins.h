// SPDX-License-Identifier: BSD-3-Clause
// Bins of time, and the counts in them. A bin begins at its edge and ends before the next edge.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/scope/trace_span.h"
#include "base/result.h"

namespace fathom::analysis {

class TimeBins {
 public:
  // `count` > 0 bins from the beginning of the span to its end, which the last one includes. Edges
  // are whole nanoseconds, so the bins are equal but for a nanosecond.
  TimeBins(const TraceSpan& span, const Scope& scope, std::size_t count);
  // Bins between these edges: at least two, ascending. They are cut to the scope's window.
  TimeBins(std::vector<std::uint64_t> edges, const Scope& scope);

  std::size_t count() const { return edges_.size() - 1; }
  const std::vector<std::uint64_t>& edges() const { return edges_; }
  std::uint64_t begin_ns(std::size_t bin) const { return edges_[bin]; }
  std::uint64_t end_ns(std::size_t bin) const { return edges_[bin + 1]; }

  bool holds(std::uint64_t time_ns) const {
    return time_ns >= edges_.front() && time_ns < edges_.back();
  }
  // The time must lie in one of the bins.
  std::size_t bin_of(std::uint64_t time_ns) const {
    // Where bins of equal width have it; edges in whole nanoseconds can be a little off.
    const double place = static_cast<double>(time_ns - edges_.front()) * bins_per_ns_;
    std::size_t bin = std::min(static_cast<std::size_t>(place), count() - 1);
    if (time_ns < edges_[bin] && bin > 0) --bin;
    if (time_ns >= edges_[bin + 1] && bin + 1 < count()) ++bin;
    if (time_ns >= edges_[bin] && time_ns < edges_[bin + 1]) return bin;
    const auto after = std::upper_bound(edges_.begin(), edges_.end(), time_ns);
    return static_cast<std::size_t>(after - edges_.begin()) - 1;
  }

  // Adds the part of the interval that lies in each bin to that bin's count.
  void add(std::uint64_t from_ns, std::uint64_t to_ns, std::span<std::uint64_t> counts) const {
    from_ns = std::max(from_ns, edges_.front());
    to_ns = std::min(to_ns, edges_.back());
    if (from_ns >= to_ns) return;
    for (std::size_t bin = bin_of(from_ns); from_ns < to_ns; ++bin) {
      const std::uint64_t until_ns = std::min(to_ns, end_ns(bin));
      counts[bin] += until_ns - from_ns;
      from_ns = until_ns;
    }
  }

 private:
  std::vector<std::uint64_t> edges_;
  double bins_per_ns_ = 0;  // on average
};

// A row of counts for each series: for each function, or for each direction of messages.
class BinCounts {
 public:
  BinCounts(std::size_t series, std::size_t bins) : bins_(bins), values_(series * bins) {}

  std::size_t series() const { return bins_ == 0 ? 0 : values_.size() / bins_; }
  std::span<std::uint64_t> of(std::size_t series) {
    return std::span(values_).subspan(series * bins_, bins_);
  }
  std::span<const std::uint64_t> of(std::size_t series) const {
    return std::span(values_).subspan(series * bins_, bins_);
  }
  bool empty(std::size_t series) const {
    const auto counts = of(series);
    return std::all_of(counts.begin(), counts.end(),
                       [](std::uint64_t count) { return count == 0; });
  }

  const std::vector<std::uint64_t>& values() const { return values_; }
  // Adds the counts of another process, with as many series and bins.
  void add(std::span<const std::uint64_t> values) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += values[i];
  }

 private:
  std::size_t bins_;
  std::vector<std::uint64_t> values_;
};

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/time/time_bins.h"

#include <utility>

namespace fathom::analysis {
namespace {

double bins_per_ns(const std::vector<std::uint64_t>& edges) {
  const auto width_ns = static_cast<double>(edges.back() - edges.front());
  return width_ns > 0 ? static_cast<double>(edges.size() - 1) / width_ns : 0;
}

}  // namespace

TimeBins::TimeBins(const TraceSpan& span, const Scope& scope, std::size_t count) {
  const std::uint64_t begin_ns = span.from_ns;
  const std::uint64_t end_ns = std::max(std::min(span.to_ns + 1, scope.to_ns), begin_ns + 1);
  const std::uint64_t width_ns = (end_ns - begin_ns) / count, rest_ns = (end_ns - begin_ns) % count;
  edges_.reserve(count + 1);
  for (std::size_t bin = 0; bin <= count; ++bin)
    edges_.push_back(begin_ns + bin * width_ns + bin * rest_ns / count);
  bins_per_ns_ = bins_per_ns(edges_);
}

TimeBins::TimeBins(std::vector<std::uint64_t> edges, const Scope& scope)
    : edges_(std::move(edges)) {
  for (std::uint64_t& edge : edges_) edge = std::min(std::max(edge, scope.from_ns), scope.to_ns);
  bins_per_ns_ = bins_per_ns(edges_);
}

}  // namespace fathom::analysis

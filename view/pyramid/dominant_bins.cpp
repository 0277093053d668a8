// SPDX-License-Identifier: BSD-3-Clause
#include "view/pyramid/dominant_bins.h"

#include <algorithm>

namespace fathom::view {

DominantBins::DominantBins(const Geometry& geometry)
    : geometry_(geometry), open_(geometry.levels), covered_ns_(geometry.from_ns) {
  for (std::uint32_t level = 0; level < geometry.levels; ++level) {
    const std::uint64_t bins = geometry.bins(level);
    levels_.push_back({std::vector<std::uint32_t>(bins, kNone), std::vector<std::uint64_t>(bins),
                       std::vector<std::uint64_t>(bins)});
  }
}

void DominantBins::add(std::uint64_t begin_ns, std::uint64_t end_ns, std::uint32_t key) {
  // Calls of one thread may overlap in a damaged trace; no moment may count twice.
  begin_ns = std::max(begin_ns, covered_ns_);
  end_ns = std::min(end_ns, geometry_.to_ns);
  if (begin_ns >= end_ns) return;
  covered_ns_ = end_ns;
  const std::uint64_t width = geometry_.finest_ns;
  const std::size_t finest = levels_.size() - 1;
  for (std::uint64_t at = begin_ns; at < end_ns;) {
    const std::uint64_t bin = (at - geometry_.from_ns) / width;
    const std::uint64_t until = std::min(end_ns, geometry_.from_ns + (bin + 1) * width);
    put(finest, bin, key, until - at);
    at = until;
  }
}

void DominantBins::finish() {
  for (std::size_t level = levels_.size(); level-- > 0;) close(level);
}

void DominantBins::put(std::size_t level, std::uint64_t bin, std::uint32_t key, std::uint64_t ns) {
  Open& open = open_[level];
  if (open.bin != bin) {
    close(level);
    open.bin = bin;
  }
  for (auto& [known, sum] : open.sums) {
    if (known != key) continue;
    sum += ns;
    return;
  }
  open.sums.emplace_back(key, ns);
}

void DominantBins::close(std::size_t level) {
  Open& open = open_[level];
  Level& bins = levels_[level];
  for (const auto& [key, ns] : open.sums) {
    bins.total_ns[open.bin] += ns;
    if (ns > bins.ns[open.bin]) {
      bins.ns[open.bin] = ns;
      bins.key[open.bin] = key;
    }
    if (level > 0) put(level - 1, open.bin / 4, key, ns);
  }
  open.sums.clear();
}

}  // namespace fathom::view

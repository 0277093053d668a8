// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/flow/link_usage.h"

#include <algorithm>
#include <numeric>

namespace fathom::simulator {

LinkUsage::LinkUsage(std::size_t links, std::size_t intervals, double first_interval_s)
    : intervals_(intervals),
      interval_s_(first_interval_s),
      bytes_(links * intervals),
      rates_(links) {}

void LinkUsage::change(std::uint32_t link, double at_s, double rate_Bps) {
  Rate& rate = rates_[link];
  add(link, rate.since_s, at_s, rate.rate_Bps);
  rate = {at_s, rate_Bps};
}

void LinkUsage::bring_to(double at_s) {
  for (std::uint32_t link = 0; link < rates_.size(); ++link)
    change(link, at_s, rates_[link].rate_Bps);
}

void LinkUsage::add(std::uint32_t link, double start_s, double end_s, double rate_Bps) {
  if (rate_Bps <= 0 || end_s <= start_s) return;
  while (end_s > interval_s_ * static_cast<double>(intervals_)) lengthen();
  double* const bytes = &bytes_[link * intervals_];
  const auto last = intervals_ - 1;
  auto interval = std::min(last, static_cast<std::size_t>(start_s / interval_s_));
  for (double from = start_s; from < end_s; ++interval) {
    const double boundary = interval_s_ * static_cast<double>(interval + 1);
    const double to = interval == last ? end_s : std::min(end_s, boundary);
    // Rounding may have put `from` just past the boundary; the interval then gets nothing.
    if (to > from) bytes[interval] += rate_Bps * (to - from);
    from = std::max(from, to);
    if (interval == last) break;
  }
}

double LinkUsage::total_bytes(std::uint32_t link) const {
  const auto first = bytes_.begin() + static_cast<std::ptrdiff_t>(link * intervals_);
  return std::accumulate(first, first + static_cast<std::ptrdiff_t>(intervals_), 0.0);
}

void LinkUsage::lengthen() {
  for (auto row = bytes_.begin(); row != bytes_.end();
       row += static_cast<std::ptrdiff_t>(intervals_)) {
    for (std::size_t half = 0; half < intervals_ / 2; ++half) {
      row[half] = row[2 * half] + row[2 * half + 1];
    }
    std::fill(row + static_cast<std::ptrdiff_t>(intervals_ / 2),
              row + static_cast<std::ptrdiff_t>(intervals_), 0.0);
  }
  interval_s_ *= 2;
}

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
// What each link carried over time: bytes in intervals of equal length.
//
// Memory is fixed from the start, 8 bytes per link and interval: when the simulation outgrows the
// intervals, neighbouring ones are merged and all become twice as long. Bytes are conserved: a
// link's intervals add up to everything that was added for it. Cost of change(): the intervals
// since the link's last change. Threading: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom::simulator {

class LinkUsage {
 public:
  // `intervals` is even and at least 2, `first_interval_s` is positive. All links start idle.
  LinkUsage(std::size_t links, std::size_t intervals, double first_interval_s);

  // From `at_s` on, the link carries `rate_Bps`. Times start at zero and never decrease for a link.
  void change(std::uint32_t link, double at_s, double rate_Bps);
  // Counts what all links carried up to `at_s`; rates stay.
  void bring_to(double at_s);

  double interval_s() const { return interval_s_; }
  std::size_t intervals() const { return intervals_; }
  std::size_t links() const { return rates_.size(); }
  double bytes(std::uint32_t link, std::size_t interval) const {
    return bytes_[link * intervals_ + interval];
  }
  double total_bytes(std::uint32_t link) const;

 private:
  struct Rate {
    double since_s = 0;
    double rate_Bps = 0;
  };

  void add(std::uint32_t link, double start_s, double end_s, double rate_Bps);
  void lengthen();

  std::size_t intervals_;
  double interval_s_;
  std::vector<double> bytes_;  // by link, then by interval
  std::vector<Rate> rates_;    // by link
};

}  // namespace fathom::simulator

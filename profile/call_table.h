// SPDX-License-Identifier: BSD-3-Clause
// Puts the calls that each process timed (rows.h) together as those of the run.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "profile/call_places.h"
#include "profile/profile.h"
#include "profile/rows_reader.h"

namespace fathom::profile {

class CallTable {
 public:
  void add(const ProcessRows& rows, ProcessPlaces& places);

  // Call once, after the last add(), with settled places. Fills `calls`, `call_durations` and
  // `coverage.untimed_calls`.
  void finish(Profile& profile, const RunPlaces& places);

 private:
  struct Call {
    CallPlace place;
    std::int64_t rank;
    auto block() const { return std::tie(place); }
    auto key() const { return std::tie(place, rank); }

    std::uint64_t calls, total_ns, shortest_ns, longest_ns, bytes, estimated;
  };
  using Bins = std::array<std::uint64_t, kDurationBins>;

  std::vector<Call> calls_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Bins> durations_;  // by site and function
  std::uint64_t untimed_ = 0;
};

}  // namespace fathom::profile

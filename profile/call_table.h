// SPDX-License-Identifier: BSD-3-Clause
// Puts the calls that each process timed (rows.h) together as those of the run.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
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

  // Call once, after the last add(). `settle` gives a place its final numbers; `final_site` has
  // those of the sites. Fills `calls`, `call_durations` and `coverage.untimed_calls`.
  void finish(Profile& profile, const std::function<void(CallPlace&)>& settle,
              const std::vector<std::uint32_t>& final_site);

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
  std::map<std::pair<std::string, std::uint32_t>, Bins> durations_;  // by function and site
  std::uint64_t untimed_ = 0;
};

}  // namespace fathom::profile

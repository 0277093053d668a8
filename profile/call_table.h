// SPDX-License-Identifier: BSD-3-Clause
// Puts the calls that each process timed (rows.h) together as those of the run.
//
// A call site is the same on all ranks if file, build id and place in the file are. Sites are
// numbered by file and place, so that the result does not depend on the order of the processes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profile/profile.h"
#include "profile/rows_reader.h"

namespace fathom::profile {

class CallTable {
 public:
  // `kind_of`: the number in the run of each of the process's communicators; `phase_of`: the name
  // of each of its phases.
  void add(const ProcessRows& rows, const std::vector<std::uint32_t>& kind_of,
           const std::function<std::string(std::uint32_t)>& phase_of);

  // Call once, after the last add(). `id_of`: the final number of a communicator. Fills `calls`,
  // `call_sites`, `call_durations` and `coverage.untimed_calls`.
  void finish(Profile& profile, const std::function<std::int64_t(std::uint32_t)>& id_of);

 private:
  struct Site {
    std::string module, build_id;
    std::uint64_t offset;
    auto operator<=>(const Site&) const = default;
  };
  struct Call {
    std::string function;
    std::uint32_t site;  // position in the order of first appearance
    std::int64_t communicator;
    std::string phase;
    std::int64_t rank;
    auto key() const { return std::tie(function, site, communicator, phase, rank); }

    std::uint64_t calls, total_ns, shortest_ns, longest_ns, bytes;
  };
  using Bins = std::array<std::uint64_t, kDurationBins>;

  std::uint32_t number(Site site);

  std::map<Site, std::uint32_t> sites_;
  std::vector<Call> calls_;
  std::map<std::pair<std::string, std::uint32_t>, Bins> durations_;  // by function and site
  std::uint64_t untimed_ = 0;
};

}  // namespace fathom::profile

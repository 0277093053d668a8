// SPDX-License-Identifier: BSD-3-Clause
// Where the time in MPI went, summed up from a profile's calls.
//
// The time of a rank is that from the end of its MPI_Init to the begin of its MPI_Finalize; what of
// it is not inside MPI calls counts as computing. Calls of several threads add up, so a rank's time
// in MPI may exceed its time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profile/profile.h"
#include "profile/selection.h"

namespace fathom::profile {

struct CallSum {
  std::uint64_t calls = 0;
  double seconds = 0;
  double longest_seconds = 0;
  std::uint64_t bytes = 0;

  void add(const CallTimes& block, std::size_t row);
};

// One function called from one site, over all ranks, communicators and phases.
struct SiteTotal {
  std::string function;
  std::int64_t site = 0;
  CallSum sum;
  // The largest time of a rank over the mean of all ranks: 1 is perfectly even.
  double imbalance = 0;
  std::int64_t slowest_rank = 0;
};

struct RankTime {
  std::int64_t rank = 0;
  double seconds = 0;      // of the rank
  double mpi_seconds = 0;  // of them in MPI
  std::uint64_t peak_memory_bytes = 0;
  double processor_wait_seconds = 0;

  double share() const { return seconds > 0 ? mpi_seconds / seconds : 0; }
};

class CallSummary {
 public:
  explicit CallSummary(const Selection& selection = {}) : selection_(selection) {}

  void add(const CallTimes& block);

  bool empty() const { return sites_.empty(); }

  // The ranks of the job's own world that left counts, ascending.
  std::vector<RankTime> ranks(const Header& header) const;

  // Most time first; ties by function, then site.
  std::vector<SiteTotal> sites(const Header& header) const;

  // Most time first; ties by name.
  std::vector<std::pair<std::string, CallSum>> functions() const;

 private:
  using Key = std::pair<std::string, std::int64_t>;  // function, site

  Selection selection_;
  std::map<Key, std::map<std::int64_t, CallSum>> sites_;  // by rank
};

}  // namespace fathom::profile

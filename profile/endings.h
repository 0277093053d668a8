// SPDX-License-Identifier: BSD-3-Clause
// How the processes of a job ended, and what follows for the job: whether it was cut short, and
// why.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "profile/rows.h"

namespace fathom::profile {

class Endings {
 public:
  // Call once for each rank.
  void add(std::int64_t rank, EndReason reason, std::uint32_t detail) {
    ends_[rank] = {reason, detail};
  }

  // A sentence for people; empty if all ranks of the world reached MPI_Finalize.
  std::string why_cut_short(std::int64_t world_size) const;

 private:
  struct End {
    EndReason reason;
    std::uint32_t detail;  // signal, or MPI_Abort's error code
  };

  std::string worst_end() const;
  std::string who_is_missing(std::int64_t world_size) const;

  std::map<std::int64_t, End> ends_;  // by rank
};

}  // namespace fathom::profile

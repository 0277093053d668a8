// SPDX-License-Identifier: BSD-3-Clause
// Any step of any process of a job: those of other analysis processes are asked for in batches and
// kept.
//
// Nobody answers questions while it works: want() notes what is wanted, fetch(), which all call
// together, brings it, and find() gives it. So nothing can block. Memory: what was fetched, until
// forget().
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "base/flat_map.h"

namespace fathom::analysis {

class RemoteSteps {
 public:
  explicit RemoteSteps(JoinedJob& job) : job_(job) {}

  // Own steps and such as are here already cost nothing.
  void want(std::uint32_t process, std::uint32_t step);
  // Collective over the job's transport. How many came.
  std::size_t fetch();
  // nullptr: it was not fetched, or there is none. Holds until the next fetch() or forget().
  const Step* find(std::uint32_t process, std::uint32_t step) const;
  void forget() { kept_.clear(); }

 private:
  static std::uint64_t key(std::uint32_t process, std::uint32_t step) {
    return std::uint64_t{process} << 32 | step;
  }

  JoinedJob& job_;
  base::FlatMap<std::uint64_t, Step> kept_;
  base::FlatMap<std::uint64_t, bool> wanted_;
};

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
// Any step of any process of a job. Steps owned by other analysis processes are requested in
// batches and cached.
//
// No process answers requests while it works: want() notes a step, fetch(), which all call
// together, gets all noted ones, and find() returns one. So nothing can block. Memory: fetched
// steps, until forget().
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "base/flat_map.h"

namespace fathom::analysis {

class RemoteSteps {
 public:
  explicit RemoteSteps(JoinedJob& job) : job_(job) {}

  // Own steps and cached steps cost nothing.
  void want(std::uint32_t process, std::uint32_t step);
  // Collective over the job's transport. Returns how many steps arrived.
  std::size_t fetch();
  // nullptr if it was not fetched or does not exist. Valid until the next fetch() or forget().
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

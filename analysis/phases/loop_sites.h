// SPDX-License-Identifier: BSD-3-Clause
// The call sites of a job by their place in the source, as the search for loops needs them.
//
// Compilers copy calls: a loop that is unrolled, or a function that is inlined twice, makes the
// same call from several addresses. So two call sites are the same if their file and line are, in
// whatever function the compiler put them. A site without debug information is known by its place
// in the executable file, which is the same in every process, and one outside all files by its
// address.
//
// Process 0 of the analysis looks all places up, so that the answer does not depend on which
// process can read the program's files.
//
// Threading: one thread. Memory: two numbers for each call site of each process; the places at
// process 0, once for all processes that run the same program.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "base/flat_map.h"
#include "trace/code/call_site_names.h"

namespace fathom::analysis {

class LoopSites {
 public:
  // Collective over the job's transport.
  explicit LoopSites(const JoinedJob& job);

  // Of a call of an own process: equal for calls of the same MPI function at the same place; for
  // calls without a call site, those on the same communicator.
  std::uint64_t symbol(std::uint32_t process, const Step& call) const {
    const std::uint64_t place = call.partner_step == kNobody
                                    ? base::mixed(static_cast<std::uint32_t>(call.communicator))
                                    : symbols_[process][call.partner_step];
    return place ^ base::mixed(call.number);
  }

  // At process 0: the place of a site, by the address that its call returns to.
  const trace::CodeSite& place(std::uint32_t process, std::uint64_t address) {
    return names_.of_call(process, address);
  }
  // At process 0: whether no other process of the job has a call at this place.
  bool only_at(std::uint32_t process, std::uint64_t address);

 private:
  struct Site {
    std::uint32_t process = 0;
    std::uint64_t address = 0;
  };
  std::vector<std::uint64_t> looked_up(const std::vector<Site>& sites);
  std::uint64_t symbol_of(std::uint32_t process, std::uint64_t address);

  const trace::Definitions& definitions_;
  trace::CallSiteNames names_;
  std::vector<std::vector<std::uint64_t>> symbols_;  // of own processes, by site
  base::FlatMap<std::uint64_t, std::uint32_t>
      only_at_;  // at process 0: by symbol; kNobody: several
};

}  // namespace fathom::analysis

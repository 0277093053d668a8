// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/job_facts.h"

namespace fathom::analysis {

JobFacts::JobFacts(const trace::Definitions& all)
    : definitions(all), functions(trace::meanings(all)), communicators(all.processes.size()) {
  for (std::size_t i = 0; i < all.processes.size(); ++i) {
    process_of_rank[static_cast<std::uint64_t>(all.processes[i].rank)] =
        static_cast<std::uint32_t>(i);
  }
  for (const profile::Communicator& communicator : all.communicators) {
    auto& processes = members.emplace_back();
    for (const auto* group : {&communicator.world_ranks, &communicator.remote_world_ranks}) {
      for (const std::int64_t rank : *group) {
        const std::uint32_t process = process_of(static_cast<std::int32_t>(rank));
        if (process != kNobody) processes.push_back(process);
      }
    }
    if (processes.size() < 2) continue;
    for (const std::uint32_t process : processes) {
      communicators[process].push_back(static_cast<std::int32_t>(members.size() - 1));
    }
  }
}

}  // namespace fathom::analysis

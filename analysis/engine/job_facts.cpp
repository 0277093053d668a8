// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/job_facts.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "mpi/makers.h"

namespace fathom::analysis {
namespace {

// One name for functions of which different members may call different ones.
std::string_view operation_name(const trace::Function& function) {
  if (mpi::meaning_of(function.name).begins_job) return "MPI_Init";
  std::string_view name = mpi::shared_maker(function.name);
  if (name.ends_with("_c")) name.remove_suffix(2);  // the form for large counts
  return name;
}

}  // namespace

JobFacts::JobFacts(const trace::Definitions& all)
    : definitions(all), functions(trace::meanings(all)), communicators(all.processes.size()) {
  from_the_first = std::none_of(all.processes.begin(), all.processes.end(),
                                [](const trace::Process& process) { return process.opening; });
  std::map<std::string_view, std::uint32_t> numbers;
  for (const trace::Function& function : all.functions) {
    const auto next = static_cast<std::uint32_t>(operations.size());
    operations.push_back(numbers.emplace(operation_name(function), next).first->second);
    // The call that makes one waits for nobody, but the operation has a flow.
    if (functions[next].persistent())
      functions[next].flow = mpi::flow_of(functions[next].collective);
  }
  for (std::size_t i = 0; i < all.processes.size(); ++i) {
    process_of_rank[static_cast<std::uint64_t>(all.processes[i].rank)] =
        static_cast<std::uint32_t>(i);
  }
  for (const profile::Communicator& communicator : all.communicators) {
    auto& processes = members.emplace_back();
    const auto add = [&](const std::vector<std::int64_t>& group) {
      for (const std::int64_t rank : group) {
        const std::uint32_t process = process_of(static_cast<std::int32_t>(rank));
        if (process != kNobody) processes.push_back(process);
      }
    };
    add(communicator.world_ranks);
    local_members.push_back(processes.size());
    add(communicator.remote_world_ranks);
  }
  auto& everyone = members.emplace_back();
  for (std::uint32_t process = 0; process < all.processes.size(); ++process)
    everyone.push_back(process);
  local_members.push_back(everyone.size());
  for (std::size_t number = 0; number < members.size(); ++number) {
    if (members[number].size() < 2) continue;
    for (const std::uint32_t process : members[number])
      communicators[process].push_back(static_cast<std::int32_t>(number));
  }
}

bool JobFacts::surely_before(std::uint32_t a, std::uint64_t a_ns, std::uint32_t b,
                             std::uint64_t b_ns) const {
  if (a_ns >= b_ns) return false;
  const trace::Process &one = definitions.processes[a], &other = definitions.processes[b];
  return (one.host == other.host && !one.clock.own && !other.clock.own) ||
         b_ns - a_ns > std::max(one.clock.uncertainty_ns, other.clock.uncertainty_ns);
}

}  // namespace fathom::analysis

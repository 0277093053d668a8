// SPDX-License-Identifier: BSD-3-Clause
// Assigns the job's processes to the processes of the analysis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace fathom::analysis {

// By process of the job: its owner, below `owners`. `loads`: number of records in each trace.
using Mapping = std::vector<std::uint32_t>;
using MappingStrategy =
    std::function<Mapping(const std::vector<std::uint64_t>& loads, std::size_t owners)>;

// Longest first, each to the owner with the least load so far: within 4/3 of the optimum (R. L.
// Graham, Bounds on multiprocessing timing anomalies, SIAM J. Appl. Math. 17, 1969).
Mapping longest_first(const std::vector<std::uint64_t>& loads, std::size_t owners);

// The default: runs of consecutive processes, cut where the loads are most even. Most programs send
// mostly to neighbours in rank, and messages between owners cost more. If this leaves an owner with
// 5 % more than longest_first would, uses longest_first.
Mapping neighbours_together(const std::vector<std::uint64_t>& loads, std::size_t owners);

// Number of records of each owner's processes.
std::vector<std::uint64_t> load_of_owners(const Mapping& mapping,
                                          const std::vector<std::uint64_t>& loads,
                                          std::size_t owners);

}  // namespace fathom::analysis

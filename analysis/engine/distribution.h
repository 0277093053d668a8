// SPDX-License-Identifier: BSD-3-Clause
// Which process of the analysis looks after which process of the job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace fathom::analysis {

// By process of the job: its owner, below `owners`. `loads`: records of each trace.
using Mapping = std::vector<std::uint32_t>;
using MappingStrategy =
    std::function<Mapping(const std::vector<std::uint64_t>& loads, std::size_t owners)>;

// Longest first, each to the owner with the least so far: within 4/3 of the best there is (R. L.
// Graham, Bounds on multiprocessing timing anomalies, SIAM J. Appl. Math. 17, 1969).
Mapping longest_first(const std::vector<std::uint64_t>& loads, std::size_t owners);

// The default: processes that follow each other together, cut where the loads are most even, for
// most programs send most to their neighbours in rank, and what crosses owners costs more. Where
// that leaves an owner with 5 % more than longest_first would, it is longest_first.
Mapping neighbours_together(const std::vector<std::uint64_t>& loads, std::size_t owners);

// Records that each owner looks after.
std::vector<std::uint64_t> load_of_owners(const Mapping& mapping,
                                          const std::vector<std::uint64_t>& loads,
                                          std::size_t owners);

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
// The parts of a verdict's sentences.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "live/verdict/wait_graph.h"

namespace fathom::live {

std::string spelled_seconds(double seconds);      // "0.8 s", "41 s", "3 min 20 s", "2 h 05 min"
std::string spelled_count(std::uint64_t number);  // "18,204"

// "rank 5", "ranks 0-3, 7 and 12 more".
std::string spelled_ranks(const std::vector<std::int32_t>& ranks);

// "MPI_Allreduce #18,204 on MPI_COMM_WORLD (solver.f90:221)", "MPI_Recv from 9, tag 7 (halo.f90:88)". `need` says
// which of several requests matters; it may be null.
std::string call_text(const JobView& view, const Node& node, const Need* need);

// What a rank that others wait for does, after "it ": "has been computing for 43 s, since halo.f90:12".
std::string condition_text(const WaitGraph& graph, std::int32_t rank);

// "12 messages wait unexpected": those that have arrived at the rank and that no receive matches. Empty if
// there are none, or if that is not known.
std::string queue_text(const RankState& rank);

// "has not sent it", "has not received it", "is not there".
const char* failure_text(const Need& need);

}  // namespace fathom::live

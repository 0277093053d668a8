// SPDX-License-Identifier: BSD-3-Clause
// Turns the communicators of a run's Definitions into rows (profile/rows.h) for each process that a
// tool writes a trace of. profile/communicator_merge.h is the reverse and gives the same numbers
// again.
//
// Each process describes the communicators that it is a member of. The process of the lowest rank
// also describes all others, in order, and the members for which no process is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "profile/rows.h"
#include "trace/definitions.h"

namespace fathom::trace {

inline constexpr std::uint32_t kOwnJob = 1, kForeignJob = 2;  // in traces that tools write

struct ProcessCommunicators {
  std::vector<profile::CommunicatorRow> rows;
  std::vector<profile::ForeignMemberRow> foreign_members;
  std::unordered_map<std::int32_t, std::uint32_t> positions;  // by number in the Definitions
  std::unordered_map<std::int32_t, bool> in_remote_group;     // only communicators it belongs to
};

// One for each process of the definitions.
std::vector<ProcessCommunicators> communicator_rows(const Definitions& definitions);

}  // namespace fathom::trace

// SPDX-License-Identifier: BSD-3-Clause
// The communicators of a run's Definitions as rows (profile/rows.h), for each process that a tool
// writes a trace of: the reverse of profile/communicator_merge.h, which turns them into the same
// numbers again.
//
// Each process tells of the communicators that it is a member of. The process of the lowest rank
// also tells of all others, in order, and of the members that no process is written for.
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
  std::unordered_map<std::int32_t, bool> in_remote_group;     // of those the process is a member of
};

// By process of the definitions.
std::vector<ProcessCommunicators> communicator_rows(const Definitions& definitions);

}  // namespace fathom::trace

// SPDX-License-Identifier: BSD-3-Clause
// Adds sections to rows (rows.h) of many processes that have been gathered already.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace fathom::profile {

// By the rank of the process: whole sections, each with its header and padded.
using LateSections = std::map<std::uint32_t, std::vector<char>>;

// `rows`: of processes of one world, one after the other. Those of a rank that has no rows are dropped.
// Linear in the length of `rows`, in place. Throws std::bad_alloc, before anything has changed.
void add_late_sections(std::vector<char>& rows, const LateSections& late);

}  // namespace fathom::profile

// SPDX-License-Identifier: BSD-3-Clause
// Finds sections in rows (rows.h) of many processes that have been gathered already, and adds others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "profile/rows.h"

namespace fathom::profile {

// visit(rank, payload, bytes) for each section of the kind that is whole, in the order of `rows`.
void for_each_section(const std::vector<char>& rows, Section kind,
                      const std::function<void(std::uint32_t, const char*, std::size_t)>& visit);

// By the rank of the process: whole sections, each with its header and padded.
using LateSections = std::map<std::uint32_t, std::vector<char>>;

// `rows`: of processes of one world, one after the other. Those of a rank that has no rows are dropped.
// Linear in the length of `rows`, in place. Throws std::bad_alloc, before anything has changed.
void add_late_sections(std::vector<char>& rows, const LateSections& late);

}  // namespace fathom::profile

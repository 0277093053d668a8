// SPDX-License-Identifier: BSD-3-Clause
// Which key of a profile.json fills which field of profile.h: the reader's half of the format;
// writer.cpp is the other half.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/target.h"
#include "profile/profile.h"

namespace fathom::profile {

// The member of the top-level object called `key`, if it belongs to the Header; everything else,
// traffic and message sizes included, is ignored here.
base::Target header_member(Header& header, std::string_view key);

// The complaint that one column of a table differs in length from the first.
base::Complaint unequal_columns(const std::string& column, std::size_t size,
                                const std::string& first, std::size_t first_size);

// The first column of the block that differs in length from `source`, if any.
std::optional<base::Complaint> unequal_columns(const Traffic& block);
// The same with `rank`.
std::optional<base::Complaint> unequal_columns(const CallTimes& block);
std::optional<base::Complaint> unequal_columns(const CallWaits& block);
std::optional<base::Complaint> unequal_columns(const PathPart& block);
std::optional<base::Complaint> unequal_columns(const WindowRanks& block);
std::optional<base::Complaint> unequal_columns(const WindowCalls& block);

}  // namespace fathom::profile

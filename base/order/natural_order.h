// SPDX-License-Identifier: BSD-3-Clause
// Orders names as people count: runs of digits by value, so "core2" comes before "core10".
#pragma once

#include <string_view>

namespace fathom::base {

bool natural_less(std::string_view left, std::string_view right);

}  // namespace fathom::base

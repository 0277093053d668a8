// SPDX-License-Identifier: BSD-3-Clause
// Text files of any origin, whole in memory: what the importers of clusters read.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::base {

// The whole file. An Error says why it cannot be read.
Result<std::string> read_text(const std::string& path);

// Calls `take` for each line, without blanks at its ends, and its number from 1 on, until that
// gives an Error.
Status for_each_line(
    const std::string& path,
    const std::function<Status(const std::string& line, std::size_t number)>& take);

// "path:line: what".
Error line_error(const std::string& path, std::size_t line, const std::string& what);

// Blanks at both ends removed.
std::string_view trimmed(std::string_view text);

// The parts between `separator`s, trimmed, empty ones kept.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace fathom::base

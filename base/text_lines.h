// SPDX-License-Identifier: BSD-3-Clause
// Text files of any origin, held in memory as a whole: for the readers of cluster descriptions.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::base {

// The whole file, or an Error that says why it cannot be read. So that nothing is read without end,
// a device is refused, and so is a pipe that gives more than kMostFromPipe.
Result<std::string> read_text(const std::string& path);

inline constexpr std::size_t kMostFromPipe = std::size_t{1} << 30;  // bytes

// Calls `take` for each line, trimmed, with its number from 1, until `take` returns an Error.
Status for_each_line(
    const std::string& path,
    const std::function<Status(const std::string& line, std::size_t number)>& take);

// "path:line: what".
Error line_error(const std::string& path, std::size_t line, const std::string& what);

// The text without blanks at its ends.
std::string_view trimmed(std::string_view text);

// The parts between `separator`s, trimmed; empty parts are kept.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace fathom::base

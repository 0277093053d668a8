// SPDX-License-Identifier: BSD-3-Clause
// Splits a line into words as a shell does, without expansion: blanks separate words, '…' is
// literal, in "…" a backslash escapes " and \, elsewhere a backslash makes the next character
// literal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::cli {

base::Result<std::vector<std::string>> split_words(std::string_view line);

}  // namespace fathom::cli

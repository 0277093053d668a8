// SPDX-License-Identifier: BSD-3-Clause
// Splits a line into words as a shell does, without expanding anything: blanks separate, '…' is
// literal, in "…" a backslash escapes " and \, elsewhere a backslash takes the next character as it
// is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::cli {

base::Result<std::vector<std::string>> split_words(std::string_view line);

}  // namespace fathom::cli

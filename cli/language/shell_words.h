// SPDX-License-Identifier: BSD-3-Clause
// Words as a shell reads and writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::cli {

// Splits a line into words as a shell does, without expansion: blanks separate words, '…' is
// literal, in "…" a backslash escapes " and \, elsewhere a backslash makes the next character
// literal.
base::Result<std::vector<std::string>> split_words(std::string_view line);

// One word of a command that the user is to copy: as it is if no shell would change it, else in
// '…'. A name with control characters is written as $'…', which bash, zsh and ksh read.
std::string shell_word(std::string_view word);

}  // namespace fathom::cli

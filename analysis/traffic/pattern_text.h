// SPDX-License-Identifier: BSD-3-Clause
// A pattern in words.
#pragma once

#include <string>

#include "analysis/traffic/patterns.h"

namespace fathom::analysis {

// "every rank sends to every other of its row, in a grid of 2 x 4 ranks; 95 % of the class's traffic"
std::string describe(const Pattern& pattern, bool names_communicators);

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
// The tables of an analysis requested by name, as text: what matters most in each, on one screen.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/run.h"

namespace fathom::cli {

// Figures, and the first rows of each table (for tables that do not fit, selected columns,
// costliest first). The number of omitted rows is given, and `all` says where they are. Lines have
// at most `width` columns; table columns that do not fit are dropped from the right.
std::string section_text(const analysis::NamedSection& named, const std::string& all,
                         std::size_t width);

}  // namespace fathom::cli

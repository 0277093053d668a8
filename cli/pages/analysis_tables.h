// SPDX-License-Identifier: BSD-3-Clause
// The tables of an analysis that was asked for by name, as text: what matters most of each, on one
// screen.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/run.h"

namespace fathom::cli {

// Figures, and the first rows of each table (of some that have more than fits, chosen columns, most
// costly first); what is left out is counted, and `all` says where it is. Lines of at most `width`
// columns: columns that do not fit are left out from the right.
std::string section_text(const analysis::NamedSection& named, const std::string& all,
                         std::size_t width);

}  // namespace fathom::cli

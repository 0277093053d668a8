// SPDX-License-Identifier: BSD-3-Clause
// Shares as the sentences of findings and patterns have them.
#pragma once

#include <cstdio>
#include <string>

namespace fathom::analysis {

// "12 %" of 0.12.
inline std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

}  // namespace fathom::analysis

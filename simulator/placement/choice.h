// SPDX-License-Identifier: BSD-3-Clause
// How a job's processes are placed, as given by `--placement` and a scenario's `placement`: the
// name of a placement, or rankfile:FILE. A rank file names the host of each rank, so it also replaces
// the selection.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "simulator/placement/placement.h"

namespace fathom::simulator {

inline constexpr std::string_view kRankfilePrefix = "rankfile:";
inline constexpr char kRankfileHelp[] =
    "the host of each rank from a rank file, or a list of hosts in order";

struct PlacementChoice {
  const PlacementRow* row = nullptr;  // nullptr for a rank file
  std::string rankfile;               // path

  // The name in results; a rank file is named without its folder.
  std::string name() const;
};

// An Error lists the known names. Does not open the file: read_placement() does.
base::Result<PlacementChoice> parse_placement(std::string_view text);

}  // namespace fathom::simulator

// SPDX-License-Identifier: BSD-3-Clause
// How a job's processes are placed, as `--placement` and a scenario's `placement` say it: the name
// of a mapper, or rankfile:FILE. A rank file names the host of each rank, so it stands for a
// selection, too.
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
  const MapperRow* mapper = nullptr;  // nullptr if there is a rank file
  std::string rankfile;               // path

  // In results: rank files go by their name without folders.
  std::string name() const;
};

// An Error lists the known names. The file is not looked at: read_placement() does that.
base::Result<PlacementChoice> find_placement(std::string_view text);

}  // namespace fathom::simulator

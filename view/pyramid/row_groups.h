// SPDX-License-Identifier: BSD-3-Clause
// The lines of a layer: one for each process, and coarser ones for groups of kGroup processes, groups of kGroup
// of these groups, and so on (geometry.h), so that a huge job is as quick to look at as a small one.
//
// A coarser line is made of its members' lines, bin by bin. Numbers are summed, exactly. For a key, such as the
// function in which a process was longest, the line has the one that is the most among its members, each counted
// with the key that its own line has: to know more, every bin would have to keep all of its functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "view/pyramid/builder.h"
#include "view/pyramid/geometry.h"
#include "view/pyramid/layer.h"

namespace fathom::view {

// How a column of a line is made of its members'.
struct ColumnRule {
  enum Kind : std::uint8_t {
    kSum,
    kKey,       // a key plus 1, or 0
    kSumOfKey,  // the sum of those members that have the chosen key
  };
  static constexpr std::uint32_t kAlike = ~std::uint32_t{0};

  Kind kind = kSum;
  std::uint32_t weight =
      kAlike;  // of a key: the column that says how much it is; kAlike: members count equally
};

// Members that are empty are left out. Ties between keys: the first member's.
Columns combined(const std::vector<Columns>& members, std::span<const ColumnRule> rules);

// Fills a layer: `make(process)` gives the bins of a process by level, then by column, or nothing once the build
// is to stop; `threads` of them at once. False: it was stopped.
using MakeLine = std::function<std::optional<std::vector<Columns>>(std::uint32_t process)>;
bool write_lines(LayerWriter& writer, const Geometry& geometry, std::span<const ColumnRule> rules,
                 unsigned threads, BuildState& state, const MakeLine& make);

}  // namespace fathom::view

// SPDX-License-Identifier: BSD-3-Clause
// Rows of many processes, one for each place and rank, become blocks of parallel columns: a block
// for each place, a row in it for each rank.
#pragma once

#include <algorithm>
#include <vector>

#include "profile/call_places.h"

namespace fathom::profile {

// A block without rows, at a settled place.
template <typename Block>
Block block_at(const CallPlace& place, const RunPlaces& run) {
  Block block;
  block.function = run.function_name(place.function);
  block.site = place.site;
  block.communicator = place.communicator;
  block.phase = run.phase_name(place.phase);
  return block;
}

// Sorts by key(). Calls begin(row) before the first row of each block(), append(row) for each key,
// and merge(row) for each further row of the same key: threads of one rank have rows of their own,
// and places that differ in one process may be one in the run.
template <typename Row, typename Begin, typename Append, typename Merge>
void put_into_blocks(std::vector<Row>& rows, Begin&& begin, Append&& append, Merge&& merge) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.key() < b.key(); });
  const Row* before = nullptr;
  for (const Row& row : rows) {
    if (before != nullptr && before->key() == row.key()) {
      merge(row);
      continue;
    }
    if (before == nullptr || before->block() != row.block()) begin(row);
    append(row);
    before = &row;
  }
}

}  // namespace fathom::profile

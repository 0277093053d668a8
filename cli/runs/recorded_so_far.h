// SPDX-License-Identifier: BSD-3-Clause
// What a run directory holds on disk, whether or not its job has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fathom::cli {

struct RecordedSoFar {
  bool profile = false;           // profile.json
  std::size_t partial = 0;        // processes that left their counts in partial/
  std::size_t traced = 0;         // processes with a trace file
  std::uint64_t trace_bytes = 0;  // of the trace, on disk
};

// Costs one pass over the names in the folder's partial/ and trace/.
RecordedSoFar recorded_so_far(const std::string& run);

// "a trace of 4 processes, 12.3 MB"; "nothing yet".
std::string described(const RecordedSoFar& recorded);

}  // namespace fathom::cli

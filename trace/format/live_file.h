// SPDX-License-Identifier: BSD-3-Clause
// The chunks of a .live file: what a process had in memory when it was killed, or has while it
// runs.
//
// Any byte sequence is safe, and the process may write while this reads: of each chunk, the records
// that were whole at the time of reading count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "trace/format/format.h"

namespace fathom::trace {

struct LiveChunk {
  std::uint64_t offset = 0;  // of the first record in the file
  std::uint64_t words = 0;   // of whole records
  std::uint32_t thread = 0;
  std::uint32_t records = 0;
  std::uint64_t sequence = 0;
  std::uint64_t first_ticks = 0, last_ticks = 0;
};

struct LiveChunks {
  std::optional<LiveHeader> header;  // absent: damaged, and then there are no chunks
  std::vector<LiveChunk> chunks;     // without free and empty ones
  bool newer_version = false;
  std::vector<std::string> problems;
};

LiveChunks find_chunks(const base::MappedFile& file);

}  // namespace fathom::trace

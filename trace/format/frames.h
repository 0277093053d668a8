// SPDX-License-Identifier: BSD-3-Clause
// The frames of one .trace file: found through its index, or one by one if it was cut or damaged.
//
// Any byte sequence is safe. After a damaged frame the search continues at the next frame header
// with a correct hash. Payloads are checked when they are loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "trace/format/format.h"

namespace fathom::trace {

// Nobody writes longer payloads, so they are damage.
inline constexpr std::uint32_t kMostEventBytes = std::uint32_t{64} << 20;
inline constexpr std::uint32_t kMostDefinitionBytes = std::uint32_t{1} << 30;

// The frames, as the index lists them or would list them.
struct FrameList {
  std::optional<FileHeader> header;  // absent: damaged
  std::vector<IndexEntry> definitions, events;
  bool complete = false;  // ends with an index
  bool newer_version = false;
  std::vector<std::string> problems;  // sentences: file, byte, what was expected
};

FrameList find_frames(const base::MappedFile& file);

// The payload, of `size` bytes: in `buffer` or, if neither compressed nor packed, in the file. Null if it is damaged;
// `problem` then says why.
const char* load_frame(const base::MappedFile& file, const IndexEntry& frame,
                       std::vector<char>& buffer, std::size_t& size, std::string& problem);

}  // namespace fathom::trace

// SPDX-License-Identifier: BSD-3-Clause
// Writes the meaning of the records' numbers into the trace file, piece by piece, as it becomes
// known.
//
// Each call writes one small frame, which is in the disk's cache when it returns, so that the trace
// of a killed process can be read. Cold; any thread may call.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "profile/rows.h"
#include "trace/format/format.h"
#include "trace/format/frame_file.h"

namespace fathom::profiler {

class DefinitionsFrame {
 public:
  explicit DefinitionsFrame(const profile::RowsHeader& header) { put(&header, sizeof header); }

  void text(const char* lines, std::size_t size) { section(profile::Section::kText, lines, size); }
  void text(const std::string& lines) { text(lines.data(), lines.size()); }
  void clocks(const trace::ClockRow* rows, std::size_t count) {
    section(static_cast<profile::Section>(trace::kClockSection), rows, count * sizeof *rows);
  }
  template <typename Row>
  void rows(profile::Section kind, const Row* rows, std::size_t count) {
    section(kind, rows, count * sizeof(Row));
  }

  bool append_to(trace::FrameFile& file) const {
    trace::FrameHeader header{};
    header.kind = trace::FrameKind::kDefinitions;
    return file.append(header, bytes_.data(), bytes_.size(), nullptr);
  }

 private:
  // Not with insert, of which g++ 12 warns where it sees that the vector was empty.
  void put(const void* data, std::size_t size) {
    const std::size_t end = bytes_.size();
    bytes_.resize(end + size);
    std::memcpy(bytes_.data() + end, data, size);
  }
  void section(profile::Section kind, const void* data, std::size_t size) {
    if (size == 0) return;
    const profile::SectionHeader header{kind, 0, size};
    put(&header, sizeof header);
    put(data, size);
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
  }

  std::vector<char> bytes_;
};

}  // namespace fathom::profiler

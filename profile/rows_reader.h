// SPDX-License-Identifier: BSD-3-Clause
// Splits a sequence of rows (rows.h) into the processes that wrote them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profile/rows.h"

namespace fathom::profile {

// One process's rows. Records are copied out of the sections, which may be unaligned in a file.
struct ProcessRows {
  RowsHeader header{};
  std::vector<std::pair<std::string, std::string>> text;  // key, value, in order
  std::vector<CommunicatorRow> communicators;
  std::vector<ForeignMemberRow> foreign_members;
  std::vector<CellRow> cells;
  std::vector<CellRow> sizes;
  std::vector<CallRow> calls;
  std::vector<DurationRow> durations;
  std::vector<WaitRow> waits;
  std::vector<PathRow> path;
  std::vector<WindowRow> windows;
  std::vector<std::pair<std::uint32_t, std::string>>
      others;              // sections of other kinds: kind, payload
  bool truncated = false;  // the file ended inside this process's rows

  // The first value of a key, or empty.
  const std::string& text_of(const std::string& key) const;
};

class RowsReader {
 public:
  RowsReader(const char* data, std::size_t size) : at_(data), end_(data + size) {}

  // The next process; false at the end, or if what follows is not rows.
  bool next(ProcessRows& process);

 private:
  bool at_header() const;

  const char* at_;
  const char* end_;
};

}  // namespace fathom::profile

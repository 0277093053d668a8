// SPDX-License-Identifier: BSD-3-Clause
// Takes lines in any order and writes them to a file in order of time.
//
// Sorted pieces of kMostBytes each go to a temporary file and are merged at the end. Ties: order of
// arrival. Memory: kMostBytes and a buffer for each piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exporters/common/text_file.h"

namespace fathom::exporters {

class SortedLines {
 public:
  explicit SortedLines(std::size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  void add(std::uint64_t time_ns, std::string_view line);  // with its line end
  base::Status write(TextFile& file);

 private:
  static constexpr std::size_t kMostBytes = 64u << 20;

  struct Line {
    std::uint64_t time_ns = 0;
    std::size_t offset = 0, size = 0;  // in text_
  };
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using Piece = std::unique_ptr<std::FILE, CloseFile>;  // for each line: time, size, bytes

  void sort();
  void spill();

  std::size_t most_bytes_;
  std::vector<Line> lines_;
  std::string text_;
  std::vector<Piece> pieces_;
  bool failed_ = false;
};

}  // namespace fathom::exporters

// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/trace/sorted_lines.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace fathom::exporters {
namespace {

struct PieceLine {
  std::uint64_t time_ns = 0;
  std::string text;
};

bool read_line(std::FILE* piece, PieceLine& line) {
  std::uint64_t header[2];
  if (std::fread(header, sizeof header, 1, piece) != 1) return false;
  line.time_ns = header[0];
  line.text.resize(header[1]);
  return std::fread(line.text.data(), 1, line.text.size(), piece) == line.text.size();
}

}  // namespace

void SortedLines::add(std::uint64_t time_ns, std::string_view line) {
  lines_.push_back({time_ns, text_.size(), line.size()});
  text_.append(line);
  if (text_.size() + lines_.size() * sizeof(Line) >= most_bytes_) spill();
}

void SortedLines::sort() {
  std::stable_sort(lines_.begin(), lines_.end(), [](const Line& left, const Line& right) {
    return left.time_ns < right.time_ns;
  });
}

void SortedLines::spill() {
  sort();
  // Has no name, so that an export that is killed leaves no piece behind.
  Piece piece(std::tmpfile());
  failed_ = failed_ || !piece;
  if (piece) {
    for (const Line& line : lines_) {
      const std::uint64_t header[2] = {line.time_ns, line.size};
      failed_ = failed_ || std::fwrite(header, sizeof header, 1, piece.get()) != 1 ||
                std::fwrite(text_.data() + line.offset, 1, line.size, piece.get()) != line.size;
    }
    std::rewind(piece.get());
    pieces_.push_back(std::move(piece));
  }
  lines_.clear();
  text_.clear();
}

base::Status SortedLines::write(TextFile& file) {
  if (!pieces_.empty()) spill();
  if (failed_)
    return base::Error{"no room for temporary files; set TMPDIR to a folder with more space"};
  sort();
  for (const Line& line : lines_) file << std::string_view(text_).substr(line.offset, line.size);

  using Next = std::pair<std::uint64_t, std::size_t>;  // time, piece
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  std::vector<PieceLine> heads(pieces_.size());
  for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
    if (read_line(pieces_[piece].get(), heads[piece])) next.emplace(heads[piece].time_ns, piece);
  }
  while (!next.empty()) {
    const std::size_t piece = next.top().second;
    next.pop();
    file << heads[piece].text;
    if (read_line(pieces_[piece].get(), heads[piece])) next.emplace(heads[piece].time_ns, piece);
  }
  for (const Piece& piece : pieces_) {
    if (std::ferror(piece.get())) return base::Error{"a temporary file could not be read back"};
  }
  return base::Done{};
}

}  // namespace fathom::exporters

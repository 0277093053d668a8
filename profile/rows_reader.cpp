// SPDX-License-Identifier: BSD-3-Clause
#include "profile/rows_reader.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace fathom::profile {
namespace {

template <typename Row>
void append_rows(std::vector<Row>& rows, const char* data, std::size_t size) {
  const std::size_t count = size / sizeof(Row);
  const std::size_t before = rows.size();
  rows.resize(before + count);
  if (count > 0) std::memcpy(rows.data() + before, data, count * sizeof(Row));
}

std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      plain += text[++i] == 'n' ? '\n' : text[i];
    } else {
      plain += text[i];
    }
  }
  return plain;
}

void append_text(std::vector<std::pair<std::string, std::string>>& text, std::string_view lines) {
  while (!lines.empty()) {
    const auto end = lines.find('\n');
    if (end == std::string_view::npos) return;  // the last line is incomplete
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end + 1);
    const auto space = line.find(' ');
    if (space == std::string_view::npos) continue;
    text.emplace_back(line.substr(0, space), unescape(line.substr(space + 1)));
  }
}

}  // namespace

const std::string& ProcessRows::text_of(const std::string& key) const {
  static const std::string none;
  const auto found = std::find_if(text.begin(), text.end(),
                                  [&key](const auto& line) { return line.first == key; });
  return found == text.end() ? none : found->second;
}

bool RowsReader::at_header() const {
  return static_cast<std::size_t>(end_ - at_) >= sizeof kRowsMagic &&
         std::memcmp(at_, kRowsMagic, sizeof kRowsMagic) == 0;
}

bool RowsReader::next(ProcessRows& process) {
  process = {};
  if (!at_header() || static_cast<std::size_t>(end_ - at_) < sizeof(RowsHeader)) return false;
  // Copied, because rows in a file may be unaligned.
  std::memcpy(&process.header, at_, sizeof(RowsHeader));
  at_ += sizeof(RowsHeader);
  while (at_ < end_ && !at_header()) {
    SectionHeader section;
    const auto left = static_cast<std::size_t>(end_ - at_);
    if (left < sizeof section) {
      process.truncated = true;
      at_ = end_;
      break;
    }
    std::memcpy(&section, at_, sizeof section);
    at_ += sizeof section;
    const std::size_t available = left - sizeof section;
    const std::size_t size = std::min<std::uint64_t>(section.payload_bytes, available);
    process.truncated |= size < section.payload_bytes;
    switch (section.kind) {
      case Section::kText: append_text(process.text, {at_, size}); break;
      case Section::kCommunicators: append_rows(process.communicators, at_, size); break;
      case Section::kForeignMembers: append_rows(process.foreign_members, at_, size); break;
      case Section::kCells: append_rows(process.cells, at_, size); break;
      case Section::kSizes: append_rows(process.sizes, at_, size); break;
      case Section::kCalls: append_rows(process.calls, at_, size); break;
      case Section::kDurations: append_rows(process.durations, at_, size); break;
      case Section::kWaits: append_rows(process.waits, at_, size); break;
      case Section::kPath: append_rows(process.path, at_, size); break;
      case Section::kWindows: append_rows(process.windows, at_, size); break;
      case Section::kTimeLine: break;
      default:
        process.others.emplace_back(static_cast<std::uint32_t>(section.kind),
                                    std::string(at_, size));
    }
    const std::size_t padded = size + (8 - size % 8) % 8;
    at_ += std::min(padded, available);
  }
  return true;
}

}  // namespace fathom::profile

// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/histograms.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fathom::analysis {
namespace {

// By low and high end.
using SizeCounts = std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>;

void add(const profile::MessageSizes& sizes, SizeCounts& counts) {
  for (std::size_t i = 0; i < sizes.size.size(); ++i) {
    counts[{sizes.size[i], sizes.size[i]}] += sizes.messages[i];
  }
  for (std::size_t i = 0; i < sizes.bin_low.size(); ++i) {
    const std::uint64_t low = sizes.bin_low[i];
    counts[{low, low + (low > 0 ? low - 1 : 0)}] += sizes.bin_messages[i];
  }
}

std::vector<SizeRow> rows_of(const SizeCounts& counts) {
  std::vector<SizeRow> rows;
  double messages = 0, bytes = 0;
  for (const auto& [ends, count] : counts) {
    const auto [low, high] = ends;
    // The sizes within a bin are unknown, so its middle is used.
    const double size = low == high ? static_cast<double>(low) : 1.5 * static_cast<double>(low);
    SizeRow row{low, high, count, size * static_cast<double>(count)};
    row.messages_up_to = messages += static_cast<double>(count);
    row.bytes_up_to = bytes += row.bytes;
    rows.push_back(row);
  }
  for (SizeRow& row : rows) {
    row.messages_up_to = messages > 0 ? row.messages_up_to / messages : 0;
    row.bytes_up_to = bytes > 0 ? row.bytes_up_to / bytes : 0;
  }
  return rows;
}

void lay_out(const std::vector<ClassHistogram>& classes, Table& table) {
  struct Line {
    const ClassHistogram* of;
    const SizeRow* row;
  };
  std::vector<Line> lines;
  for (const ClassHistogram& histogram : classes) {
    for (const SizeRow& row : histogram.rows) lines.push_back({&histogram, &row});
  }
  add_column(table, "class", lines, [](const Line& line) { return line.of->class_name; });
  add_column(table, "hidden", lines,
             [](const Line& line) { return std::int64_t{line.of->hidden}; });
  add_column(table, "low_bytes", lines, [](const Line& line) { return line.row->low; });
  add_column(table, "high_bytes", lines, [](const Line& line) { return line.row->high; });
  add_column(table, "messages", lines, [](const Line& line) { return line.row->messages; });
  add_column(table, "bytes", lines, [](const Line& line) { return line.row->bytes; });
  add_column(table, "messages_up_to", lines,
             [](const Line& line) { return line.row->messages_up_to; });
  add_column(table, "bytes_up_to", lines, [](const Line& line) { return line.row->bytes_up_to; });
}

}  // namespace

ClassHistogram histogram_of(const profile::MessageSizes& sizes) {
  SizeCounts counts;
  add(sizes, counts);
  return {sizes.class_name, sizes.hidden, rows_of(counts)};
}

std::vector<SizeRow> histogram_of_all(const profile::Profile& profile) {
  SizeCounts counts;
  for (const profile::MessageSizes& sizes : profile.message_sizes) add(sizes, counts);
  return rows_of(counts);
}

SmallMessages small_messages(const std::vector<SizeRow>& rows, double limit_bytes) {
  SmallMessages small;
  for (const SizeRow& row : rows) {
    small.of_messages += row.messages;
    small.of_bytes += row.bytes;
    if (static_cast<double>(row.high) >= limit_bytes) continue;
    small.messages += row.messages;
    small.bytes += row.bytes;
  }
  return small;
}

base::Result<Outcome> histograms(const Input& input) {
  Outcome outcome;
  std::vector<ClassHistogram> classes;
  for (const profile::MessageSizes& sizes : input.profile->message_sizes) {
    classes.push_back(histogram_of(sizes));
  }
  if (classes.empty() && !input.profile->traffic.empty()) {
    outcome.limits.push_back(
        "there are no message sizes: they are recorded for whole runs only, or were not recorded");
  }
  lay_out(classes, outcome.section.table("message_sizes"));
  return outcome;
}

}  // namespace fathom::analysis

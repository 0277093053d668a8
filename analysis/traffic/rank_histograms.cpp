// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/rank_histograms.h"

#include <bit>
#include <memory>
#include <vector>

namespace fathom::analysis {
namespace {

using trace::Event;
using trace::EventKind;

void add_process(const trace::Trace& trace, std::size_t process, const Scope& scope,
                 std::vector<RankSizes>& list) {
  const std::int64_t rank = trace.definitions().processes[process].rank;
  std::vector<std::unique_ptr<RankSizes>> sums(2 * trace.definitions().classes.size());
  trace::EventCursor cursor = trace.events(process);
  // Messages need no events before them, so reading can begin in the middle.
  if (scope.from_ns > 0) cursor.seek(scope.from_ns);
  for (Event event; cursor.next(event) && event.time_ns < scope.to_ns;) {
    const bool sent = event.kind == EventKind::kMessageSent;
    if (!sent && event.kind != EventKind::kMessageReceived) continue;
    std::unique_ptr<RankSizes>& sizes = sums[2 * event.code + (sent ? 1 : 0)];
    if (!sizes) {
      sizes = std::make_unique<RankSizes>();
      *sizes = {.rank = rank, .message_class = event.code, .sent = sent};
    }
    const auto bin = static_cast<std::size_t>(std::bit_width(event.bytes));
    ++sizes->messages[bin];
    sizes->bytes[bin] += event.bytes;
  }
  for (const std::unique_ptr<RankSizes>& sizes : sums) {
    if (sizes) list.push_back(*sizes);
  }
}

struct Line {
  const RankSizes* of;
  std::size_t bin;
  std::uint64_t low() const { return bin == 0 ? 0 : std::uint64_t{1} << (bin - 1); }
  std::uint64_t high() const { return bin == 0 ? 0 : low() + (low() - 1); }
};

void lay_out(const std::vector<RankSizes>& list, const trace::Definitions& definitions,
             Table& table) {
  std::vector<Line> lines;
  for (const RankSizes& sizes : list) {
    for (std::size_t bin = 0; bin < kSizeBins; ++bin) {
      if (sizes.messages[bin] > 0) lines.push_back({&sizes, bin});
    }
  }
  add_column(table, "rank", lines, [](const Line& line) { return line.of->rank; });
  add_column(table, "class", lines,
             [&](const Line& line) { return definitions.classes[line.of->message_class]; });
  add_column(table, "hidden", lines, [&](const Line& line) {
    return std::int64_t{definitions.class_hidden[line.of->message_class]};
  });
  add_column(table, "sent", lines, [](const Line& line) { return std::int64_t{line.of->sent}; });
  add_column(table, "low_bytes", lines, [](const Line& line) { return line.low(); });
  add_column(table, "high_bytes", lines, [](const Line& line) { return line.high(); });
  add_column(table, "messages", lines,
             [](const Line& line) { return line.of->messages[line.bin]; });
  add_column(table, "bytes", lines, [](const Line& line) { return line.of->bytes[line.bin]; });
}

}  // namespace

std::vector<RankSizes> rank_sizes(const trace::Trace& trace, const Scope& scope) {
  std::vector<RankSizes> list;
  const auto& processes = trace.definitions().processes;
  for (std::size_t process = 0; process < processes.size(); ++process) {
    if (scope.ranks && !scope.ranks->contains(processes[process].rank)) continue;
    add_process(trace, process, scope, list);
  }
  return list;
}

base::Result<Outcome> rank_histograms(const Input& input) {
  Outcome outcome;
  const std::vector<RankSizes> list = rank_sizes(*input.trace, input.scope);
  lay_out(list, input.trace->definitions(), outcome.section.table("message_sizes"));
  return outcome;
}

}  // namespace fathom::analysis

// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/trace/goal.h"

#include <algorithm>
#include <string>
#include <vector>

#include "exporters/common/text_file.h"
#include "trace/join/operations.h"

namespace fathom::exporters {
namespace {

using trace::Event;
using trace::EventKind;
using trace::Place;

// Writes the text of one rank.
class GoalText : public trace::OperationSink {
 public:
  GoalText(TextFile& file, FlatTags& tags) : file_(file), tags_(tags) {}

  Label compute(const Place& place, std::uint64_t ns) override {
    file_ << 'l' << ++last_label_ << ": calc " << ns;
    end_operation(place);
    return last_label_;
  }

  Label transfer(const Place& place, const Event& event) override {
    // At least 1 byte, because LogGOPSim subtracts one.
    const bool sends = event.kind == EventKind::kMessageSent;
    file_ << 'l' << ++last_label_ << (sends ? ": send " : ": recv ")
          << std::max<std::uint64_t>(event.bytes, 1) << (sends ? "b to " : "b from ") << event.peer
          << " tag " << tags_.tag_of(event.communicator, event.tag);
    end_operation(place);
    return last_label_;
  }

  void require(Label label, Label earlier) override {
    file_ << 'l' << label << " requires l" << earlier << '\n';
  }

  void require_started(Label label, Label earlier) override {
    file_ << 'l' << label << " irequires l" << earlier << '\n';
  }

 private:
  void end_operation(const Place& place) {
    if (place.thread > 0) file_ << " cpu " << std::min<std::uint32_t>(place.thread, 255);
    file_ << '\n';
  }

  TextFile& file_;
  FlatTags& tags_;
  Label last_label_ = kNone;
};

}  // namespace

base::Status export_goal(const trace::Trace& trace, const TraceOptions& options,
                         const std::string& path, Notes& notes) {
  const trace::Definitions& all = trace.definitions();
  const std::int64_t ranks = rank_count(all);
  const auto checked = check_rank_count(ranks, kMostListedRanks, "goal");
  if (!checked) return checked;
  std::vector<std::size_t> process_of(static_cast<std::size_t>(ranks), all.processes.size());
  for (std::size_t process = 0; process < all.processes.size(); ++process) {
    process_of[static_cast<std::size_t>(all.processes[process].rank)] = process;
  }
  TextFile file;
  const auto opened = file.open(path, options.force);
  if (!opened) return opened;
  file << "num_ranks " << ranks << "\n\n";
  FlatTags tags;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    file << "rank " << rank << " {\n";
    GoalText text(file, tags);
    trace::OperationVisitor visitor(
        text, all, [&](const trace::Message& message) { return options.wants(message); });
    const std::size_t process = process_of[static_cast<std::size_t>(rank)];
    if (process < all.processes.size()) note(trace::walk_process(trace, process, visitor), notes);
    file << "}\n\n";
  }
  note_loss(all, notes);
  notes.push_back(
      "GOAL holds only sends, receives and computation; one-sided transfers without messages, I/O "
      "and "
      "the names of calls are left out");
  return file.commit();
}

}  // namespace fathom::exporters

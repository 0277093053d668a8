// SPDX-License-Identifier: BSD-3-Clause
// The events of one thread, frame by frame and chunk by chunk, in the order of recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/decode.h"
#include "trace/event.h"
#include "trace/format/frames.h"
#include "trace/time_map.h"

namespace fathom::trace {

// A frame of the .trace file or, if words is not 0, a chunk of the .live file.
struct Piece {
  IndexEntry frame{};  // for a chunk, offset is that of its first record
  std::uint64_t words = 0;
};

struct ProcessFiles {
  const base::MappedFile* trace = nullptr;  // null: there is none
  const base::MappedFile* live = nullptr;
};

struct ProcessTime {
  TimeMap to_reference_ns;
  std::int64_t epoch_ns = 0;  // in reference time

  std::uint64_t run_ns(std::int64_t reference_ns) const {
    return reference_ns > epoch_ns
               ? static_cast<std::uint64_t>(reference_ns) - static_cast<std::uint64_t>(epoch_ns)
               : 0;
  }
  std::uint64_t operator()(std::uint64_t ticks) const { return run_ns(to_reference_ns(ticks)); }
};

class ThreadStream {
 public:
  // `pieces` are sorted by sequence. All arguments must outlive the stream. `begins_late`: those
  // before the first one were let go on purpose, and are no loss.
  ThreadStream(ProcessFiles files, std::uint32_t thread, const std::vector<Piece>& pieces,
               const DecodeTables& tables, const ProcessTime& time, bool begins_late)
      : files_(files), thread_(thread), pieces_(pieces), tables_(tables), time_(time) {
    if (!begins_late || pieces.empty()) return;
    expected_sequence_ = pieces.front().frame.sequence;
    const auto open = tables.open_phases.find(thread);
    has_more_ = open != tables.open_phases.end() && !open->second.empty();
    if (has_more_) open_phases_ = &open->second;
  }

  // False at the end. Overwrites all of `event`. Damaged pieces are reported as kLost and in
  // `problems`.
  bool next(Event& event, std::vector<std::string>& problems);

  // Moves to the first event at or after this time; what was lost before it may come first.
  void seek(std::uint64_t time_ns);

  std::uint32_t thread() const { return thread_; }

 private:
  bool next_of_record(Event& event);
  [[gnu::always_inline]] inline void pass_to(std::uint64_t ticks);
  bool next_piece(Event& event, std::vector<std::string>& problems, bool& has_event);
  void leave_piece();
  void forget_around(std::uint64_t offset);
  const std::uint64_t* load(const Piece& piece, std::string& problem);
  void lost(Event& event, std::uint64_t count, std::uint64_t ticks);

  ProcessFiles files_;
  std::uint32_t thread_;
  const std::vector<Piece>& pieces_;
  const DecodeTables& tables_;
  const ProcessTime& time_;

  bool has_more_ = false;  // to be returned before the next record, of what follows:
  const std::vector<std::uint32_t>* open_phases_ = nullptr;  // of an opening
  std::size_t opened_ = 0;
  const std::uint64_t* values_ = nullptr;  // of a kValues record
  const std::uint64_t* values_end_ = nullptr;
  bool values_are_members_ = false;
  std::uint32_t further_steps_ = 0;  // of the transfer that was returned last: also()
  Event transfer_{};
  std::uint64_t sent_[3] = {};  // a message that an enter record tells, if its head is not 0

  std::size_t piece_ = 0;                // the next one
  std::uint64_t expected_sequence_ = 0;  // of the next piece
  std::uint64_t dropped_to_ = 0;         // in the .trace file
  const std::uint64_t* at_ = nullptr;
  const std::uint64_t* end_ = nullptr;
  std::uint64_t ticks_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t sought_ns_ = 0;  // events before it are left out
  TimeMap::Segment segment_{};
  std::vector<char> buffer_;
};

}  // namespace fathom::trace

// SPDX-License-Identifier: BSD-3-Clause
#include "trace/thread_stream.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace fathom::trace {

bool ThreadStream::next(Event& event, std::vector<std::string>& problems) {
  for (;;) {
    if (has_more_) {
      if (next_of_record(event)) break;
      has_more_ = false;
    }
    if (at_ == end_) {
      bool has_event = false;
      if (!next_piece(event, problems, has_event)) return false;
      if (has_event) break;
      continue;
    }
    const std::uint64_t head = *at_;
    const std::uint32_t words = words_of(head);
    if (words >= static_cast<std::size_t>(end_ - at_)) {  // only if the writer was wrong
      at_ = end_;
      continue;
    }
    const std::uint64_t* record = at_;
    at_ += 1 + words;
    if (kind_of(head) == RecordKind::kTime && words > 0) {
      ticks_ = record[1];
      continue;
    }
    ticks_ += ticks_of(head);
    pass_to(ticks_);
    if (last_ns_ < sought_ns_) continue;
    switch (kind_of(head)) {
      case RecordKind::kValues:
        if (!is_list(static_cast<Attribute>(small_of(head)))) continue;
        values_are_members_ = static_cast<Attribute>(small_of(head)) == Attribute::kMembers;
        values_ = record + 1;
        values_end_ = record + 1 + words;
        has_more_ = true;
        continue;
      case RecordKind::kEnter:
        if ((small_of(head) & kSends) == 0 || words < 2) break;
        sent_[0] =
            fathom::trace::head(static_cast<std::uint32_t>(RecordKind::kMessageSent), 2, 0, 0);
        sent_[1] = record[1];
        sent_[2] = record[2];
        has_more_ = true;
        break;
      case RecordKind::kTransfer:
        further_steps_ = small_of(head) >> (kAlsoShift + 1) << (kAlsoShift + 1);
        if (further_steps_ == 0) break;
        decode(record, tables_, transfer_);
        has_more_ = true;
        break;
      default: break;
    }
    if (decode(record, tables_, event)) break;
  }
  event.time_ns = last_ns_;
  event.thread = thread_;
  return true;
}

void ThreadStream::pass_to(std::uint64_t ticks) {
  if (ticks < segment_.begin || ticks >= segment_.end)
    segment_ = time_.to_reference_ns.segment_of(ticks);
  const std::uint64_t now_ns = time_.run_ns(TimeMap::at(segment_, ticks));
  last_ns_ = std::max(last_ns_, now_ns);  // a clock that was set back must not reorder events
}

// What is still to be returned of the last record, or of an opening.
bool ThreadStream::next_of_record(Event& event) {
  if (values_ != values_end_) {
    event = {};
    if (values_are_members_) {
      event.kind = EventKind::kMemberGiven;
      event.peer = static_cast<std::int32_t>(*values_++);
    } else {
      event.kind = EventKind::kRequestGiven;
      event.request = *values_++;
    }
    return true;
  }
  if (further_steps_ != 0) {
    event = transfer_;
    event.code = static_cast<std::uint32_t>(std::countr_zero(further_steps_)) - kAlsoShift;
    further_steps_ &= further_steps_ - 1;
    return true;
  }
  if (sent_[0] != 0) {
    const bool is_known = decode(sent_, tables_, event);
    sent_[0] = 0;
    return is_known;
  }
  if (open_phases_ == nullptr) return false;
  event = {};
  event.kind = EventKind::kPhaseBegin;
  event.code = (*open_phases_)[opened_++];
  pass_to(pieces_.front().frame.first_ticks);
  if (opened_ == open_phases_->size()) open_phases_ = nullptr;
  return true;
}

void ThreadStream::lost(Event& event, std::uint64_t count, std::uint64_t ticks) {
  event = {};
  event.kind = EventKind::kLost;
  event.count = count;
  pass_to(ticks);
}

// False at the end. `has_event`: something is missing here, which `event` reports.
bool ThreadStream::next_piece(Event& event, std::vector<std::string>& problems, bool& has_event) {
  leave_piece();
  if (piece_ == pieces_.size()) return false;
  const Piece& piece = pieces_[piece_];
  if (piece.frame.sequence != expected_sequence_) {
    expected_sequence_ = piece.frame.sequence;
    has_event = true;
    lost(event, 0, piece.frame.first_ticks);
    return true;
  }
  ++piece_;
  ++expected_sequence_;
  std::string problem;
  const std::uint64_t* words = load(piece, problem);
  if (words == nullptr) {
    problems.push_back(problem);
    has_event = true;
    lost(event, piece.frame.records, piece.frame.first_ticks);
    return true;
  }
  at_ = words;
  ticks_ = piece.frame.first_ticks;
  return true;
}

const std::uint64_t* ThreadStream::load(const Piece& piece, std::string& problem) {
  const char* bytes = nullptr;
  std::size_t size = 0;
  if (piece.words != 0) {  // copied, because the process may still be writing
    size = piece.words * sizeof(std::uint64_t);
    const char* begin = files_.live->data() + piece.frame.offset;
    buffer_.assign(begin, begin + size);
    bytes = buffer_.data();
  } else {
    bytes = load_frame(*files_.trace, piece.frame, buffer_, size, problem);
    if (bytes == nullptr) return nullptr;
    if (bytes == buffer_.data()) forget_around(piece.frame.offset);
  }
  const auto* words = reinterpret_cast<const std::uint64_t*>(bytes);
  end_ = words + size / sizeof(std::uint64_t);
  return words;
}

// What is unpacked is needed no more, nor what the page fault brought along: a job that is read side by side has a
// file for each process.
void ThreadStream::forget_around(std::uint64_t offset) {
  constexpr std::uint64_t kBrought = std::uint64_t{64} << 10;
  files_.trace->drop(offset < kBrought ? 0 : offset - kBrought, offset + 2 * kBrought);
}

void ThreadStream::leave_piece() {
  at_ = end_ = nullptr;
  if (piece_ == 0 || pieces_[piece_ - 1].words != 0) return;
  const bool more = piece_ < pieces_.size() && pieces_[piece_].words == 0;
  const std::uint64_t here = more ? pieces_[piece_].frame.offset : files_.trace->size();
  // In steps, because each is a call to the kernel; in small ones, because a job that is read side by
  // side has a file for each process. And each time some of the previous steps again: a page fault
  // brings back its neighbours.
  constexpr std::uint64_t kStep = std::uint64_t{32} << 10, kAgain = std::uint64_t{64} << 10;
  if (more && here - dropped_to_ < kStep) return;
  files_.trace->drop(dropped_to_ < kAgain ? 0 : dropped_to_ - kAgain, here);
  dropped_to_ = here;
}

void ThreadStream::seek(std::uint64_t time_ns) {
  has_more_ = false;
  open_phases_ = nullptr;
  at_ = end_ = nullptr;
  values_ = values_end_ = nullptr;
  further_steps_ = 0;
  sent_[0] = 0;
  last_ns_ = 0;
  sought_ns_ = time_ns;
  const auto found = std::partition_point(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
    return time_(piece.frame.last_ticks) < time_ns;
  });
  piece_ = static_cast<std::size_t>(found - pieces_.begin());
  if (piece_ == pieces_.size()) return;
  expected_sequence_ = pieces_[piece_].frame.sequence;
  if (pieces_[piece_].words == 0) dropped_to_ = pieces_[piece_].frame.offset;
}

}  // namespace fathom::trace

// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/time_log.h"

#include <algorithm>

namespace fathom::profiler {

bool TimeLog::open(std::size_t bytes, void (*grew)()) {
  grew_ = grew;
  chunk_count_ = static_cast<std::uint32_t>(
      std::clamp<std::size_t>(bytes / sizeof(Chunk), 2, std::size_t{1} << 28));
  if (!memory_.reserve(chunk_count_)) return false;
  chunks_ = memory_.data();
  return true;
}

void TimeLog::begin_chunk(List& list, std::uint64_t units) {
  const std::uint32_t number = next_chunk_;
  next_chunk_ = number + 1 == chunk_count_ ? 0 : number + 1;
  Chunk& chunk = chunks_[number];
  // Chunks are taken in turn, so this one is the oldest of its list.
  if (List* const before = chunk.owner; before != nullptr) {
    before->first_plus = chunk.next_plus;
    if (before->chunk_plus == number + 1) before->chunk_plus = 0;
  }
  if (list.count == 0) list.last = units;
  chunk.owner = &list;
  chunk.first = list.count;
  chunk.base = list.last;
  chunk.next_plus = 0;
  if (list.chunk_plus != 0) chunks_[list.chunk_plus - 1].next_plus = number + 1;
  if (list.first_plus == 0) list.first_plus = number + 1;
  list.chunk_plus = number + 1;
  list.used = 0;
  if (number < taken_) return;
  taken_ = number + 1;
  if (grew_ != nullptr) grew_();
}

void TimeLog::take_back(List& list) {
  list.count -= 1;
  if (list.chunk_plus == 0) return;
  Reader reader(*this, list);
  reader.enter(list.chunk_plus);
  while (reader.next_ < list.count) reader.step();
  list.last = reader.units_;
  list.used = static_cast<std::uint32_t>(reader.at_ - chunks_[list.chunk_plus - 1].bytes);
}

void TimeLog::Reader::restart() { enter(list_->first_plus); }

void TimeLog::Reader::enter(std::uint32_t chunk_plus) {
  chunk_plus_ = chunk_plus;
  if (chunk_plus == 0) return;
  const Chunk& chunk = log_->chunks_[chunk_plus - 1];
  next_ = chunk.first;
  units_ = chunk.base;
  at_ = chunk.bytes;
}

void TimeLog::Reader::step() {
  std::uint64_t bits = 0;
  at_ = base::get_leb128(at_, bits);
  units_ = base::from_zigzag(bits, units_);
  ++next_;
}

std::uint64_t TimeLog::Reader::at(std::uint64_t ordinal) {
  if (ordinal >= list_->count || chunk_plus_ == 0) return 0;
  if (ordinal + 1 < next_) restart();
  if (ordinal + 1 == next_ && ordinal >= log_->chunks_[chunk_plus_ - 1].first)
    return units_ << kUnitBits;
  if (ordinal < next_) return 0;
  for (;;) {
    const std::uint32_t following = log_->chunks_[chunk_plus_ - 1].next_plus;
    if (following == 0 || log_->chunks_[following - 1].first > ordinal) break;
    enter(following);
  }
  while (next_ <= ordinal) step();
  return units_ << kUnitBits;
}

}  // namespace fathom::profiler

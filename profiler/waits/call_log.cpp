// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/call_log.h"

#include <sys/mman.h>

#include <cstring>

#include "base/leb128.h"

namespace fathom::profiler {
namespace {

constexpr auto put = base::put_leb128;
constexpr auto get = base::get_leb128;

std::uint8_t* put_difference(std::uint8_t* to, std::uint64_t value, std::uint64_t from) {
  return put(to, base::zigzag(value, from));
}
const std::uint8_t* get_difference(const std::uint8_t* at, std::uint64_t& value,
                                   std::uint64_t from) {
  at = get(at, value);
  value = base::from_zigzag(value, from);
  return at;
}

// A word of a part: its lowest bit says which of the two follows.
constexpr int kOrdinalBits = CallLog::kOrdinalBits;
constexpr std::uint64_t kOrdinal = (std::uint64_t{1} << kOrdinalBits) - 1;

std::uint8_t* put_part(std::uint8_t* to, std::uint64_t word) {
  if ((word & CallLog::kIsFacts) != 0) {
    to = put(to, (word & ~CallLog::kIsFacts) >> 32 << 1 | 1);
    const auto root = static_cast<std::int32_t>(word);
    return put(to, base::zigzag(static_cast<std::uint64_t>(root)));
  }
  return put(put(to, word >> kOrdinalBits << 1), word & kOrdinal);
}

const std::uint8_t* get_part(const std::uint8_t* from, std::uint64_t& word) {
  std::uint64_t head = 0, rest = 0;
  from = get(get(from, head), rest);
  const auto root = static_cast<std::uint32_t>(base::from_zigzag(rest));
  word = (head & 1) != 0 ? CallLog::kIsFacts | head >> 1 << 32 | root
                         : head >> 1 << kOrdinalBits | rest;
  return from;
}

constexpr std::uint64_t kOfMain = 1, kHasRow = 2;
constexpr int kHeadBits = 2;
// Rows lie at multiples of this.
constexpr std::uint64_t kRowStep = alignof(profile::CallRow);

std::uint64_t address(const profile::CallRow* row) {
  return reinterpret_cast<std::uintptr_t>(row) / kRowStep;
}
const profile::CallRow* row_at(std::uint64_t address) {
  return reinterpret_cast<const profile::CallRow*>(address * kRowStep);
}

}  // namespace

bool CallLog::open(std::size_t bytes) {
  most_ = bytes;
  return bytes_.reserve(2 * bytes) && parts_.reserve(bytes / kMostPart + 1) &&
         sums_.reserve(most_sums());
}

void CallLog::append(const Record& record) {
  if (anchor_ == nullptr)
    anchor_ =
        record.row == nullptr && record.stretch.count > 0 ? record.stretch.sums[0].row : record.row;
  std::uint8_t* to = bytes_.data() + used_;
  to = put(to, std::uint64_t{record.part_count} << kHeadBits |
                   (record.row != nullptr ? kHasRow : 0) | (record.of_main ? kOfMain : 0));
  to = put_difference(to, record.entered, left_);
  to = put(to, record.left - record.entered);
  left_ = record.left;
  std::uint64_t row = address(anchor_);
  const auto put_row = [&](const profile::CallRow* next) {
    to = put_difference(to, address(next), row);
    row = address(next);
  };
  if (record.row != nullptr) {
    put_row(record.row);
    to = put(to, record.bytes);
  }
  for (std::uint32_t i = 0; i < record.part_count; ++i) to = put_part(to, record.parts[i]);
  if (record.of_main) {
    to = put(to, record.stretch.short_waits);
    to = put(to, record.stretch.count);
    for (std::uint32_t i = 0; i < record.stretch.count; ++i) {
      const Sum& sum = record.stretch.sums[i];
      put_row(sum.row);
      to = put(put(put(put(to, sum.ticks), sum.program_ticks), sum.calls), sum.bytes);
    }
  }
  used_ = static_cast<std::size_t>(to - bytes_.data());
  count_ += 1;
}

const std::uint8_t* CallLog::decode(const std::uint8_t* from, Record& record,
                                    std::uint64_t left_before) const {
  std::uint64_t head = 0, row = address(anchor_), count = 0;
  from = get(from, head);
  record = {};
  record.of_main = (head & kOfMain) != 0;
  record.part_count = static_cast<std::uint32_t>(head >> kHeadBits);
  from = get_difference(from, record.entered, left_before);
  from = get(from, record.left);
  record.left += record.entered;
  if ((head & kHasRow) != 0) {
    from = get_difference(from, row, row);
    record.row = row_at(row);
    from = get(from, record.bytes);
  }
  auto* const parts = const_cast<std::uint64_t*>(parts_.data());
  record.parts = parts;
  for (std::uint32_t i = 0; i < record.part_count; ++i) from = get_part(from, parts[i]);
  if (!record.of_main) return from;
  from = get(get(from, record.stretch.short_waits), count);
  record.stretch.count = static_cast<std::uint32_t>(count);
  auto* const sums = const_cast<Sum*>(sums_.data());
  record.stretch.sums = sums;
  for (std::uint32_t i = 0; i < record.stretch.count; ++i) {
    from = get_difference(from, row, row);
    sums[i].row = row_at(row);
    from = get(get(from, sums[i].ticks), sums[i].program_ticks);
    from = get(get(from, sums[i].calls), sums[i].bytes);
  }
  return from;
}

bool CallLog::Reader::next(Record& record) {
  if (next_ >= end_) return false;
  at_ = next_;
  next_ = static_cast<std::size_t>(log_.decode(bytes_ + at_, record, left_) - bytes_);
  left_ = record.left;
  return true;
}

CallLog::Stretch CallLog::stretch_at(std::size_t at) const {
  Record record;
  decode(data() + at, record, 0);
  return record.stretch;
}

const std::uint8_t* CallLog::move_away() {
  std::memcpy(bytes_.data() + most_, bytes_.data(), used_);
  moved_ = used_;
  return bytes_.data() + most_;
}

void CallLog::give_back() {
  constexpr std::uintptr_t kPage = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes_.data() + most_);
  const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (begin + moved_) / kPage * kPage;
  if (end > first) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

}  // namespace fathom::profiler

// SPDX-License-Identifier: BSD-3-Clause
#include "trace/format/packed_records.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "trace/format/format.h"

namespace fathom::trace {
namespace {

constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
constexpr std::size_t kSizes = 2 * sizeof(std::uint32_t);
constexpr std::uint64_t kTimed = std::uint64_t{1} << kTimeShift;  // of a literal: it has a time
// L, R and D of a run of one record, at most 5 bytes each; a time at most 5, and is written 8 at once.
constexpr std::size_t kCommandBytes = 15, kTimeBytes = 5, kSlack = 16;

std::size_t length_of(std::uint64_t head) { return 1 + (head >> kWordsShift & kMaxWords); }
bool is_absolute_time(std::uint64_t head) {
  return (head & 0xff) == static_cast<std::uint64_t>(RecordKind::kTime);
}
std::uint64_t timeless(std::uint64_t head) { return head & (kTimed - 1); }
std::uint32_t time_of(std::uint64_t head) { return static_cast<std::uint32_t>(head >> kTimeShift); }

// The owner of the memory may be writing what comes after.
std::uint64_t published(const std::uint64_t* word) {
  return std::atomic_ref(*const_cast<std::uint64_t*>(word)).load(std::memory_order_acquire);
}

char* put_number(char* at, std::size_t number) {
  for (; number >= 0x80; number >>= 7) *at++ = static_cast<char>(number | 0x80);
  *at++ = static_cast<char>(number);
  return at;
}

// Without branches for short times, which come in any order.
char* put_time(char* at, std::uint32_t time) {
  if (time >> 14 != 0) [[unlikely]] {
    const std::uint64_t bytes = std::uint64_t{time} << 8 | 3;
    std::memcpy(at, &bytes, sizeof bytes);
    return at + kTimeBytes;
  }
  const std::uint32_t two = time >> 7 != 0 ? 1 : 0;
  const std::uint32_t bytes = time << (1 + two) | two;
  std::memcpy(at, &bytes, sizeof bytes);
  return at + two + (time != 0 ? 1 : 0);
}

template <std::size_t kWords>
bool are_equal(const std::uint64_t* one, const std::uint64_t* other) {
  std::uint64_t different = 0;
  for (std::size_t i = 1; i < kWords; ++i) different |= one[i] ^ other[i];
  return different == 0;
}

// The length of the record at `at`, whose head is `head`, if the one at `before` is the same but for its
// time; else 0. Lengths are constants in each case, so that the processor need not wait for one record
// to know where the next begins: it guesses the case, and loops make that easy.
std::size_t repeated(const std::uint64_t* at, std::uint64_t head, const std::uint64_t* before) {
  if (timeless(head ^ *before) != 0 || (time_of(head) == 0) != (time_of(*before) == 0)) return 0;
  switch (length_of(head)) {
    case 1: return 1;
    case 2: return are_equal<2>(at, before) ? 2 : 0;
    case 3: return are_equal<3>(at, before) ? 3 : 0;
    case 4: return are_equal<4>(at, before) ? 4 : 0;
    case 5: return are_equal<5>(at, before) ? 5 : 0;
    default:
      const std::size_t length = length_of(head);
      return std::memcmp(at + 1, before + 1, (length - 1) * sizeof *at) == 0 ? length : 0;
  }
}

// One turn of a loop that repeats: where its records begin. A whole turn is compared, or written, at once,
// which takes half as long as record by record, because nothing but the times depends on what is read.
class LoopTurn {
 public:
  static constexpr std::size_t kMostWords = 1024;

  explicit LoopTurn(std::size_t words) : words_(words) {}

  // The records of the first turn, in order; `at`: in the turn. True once all are known.
  bool add(std::size_t at, std::uint64_t head) {
    if (at >= words_ || words_ > kMostWords) return false;
    (time_of(head) != 0 ? timed_[timed_count_++] : timeless_[timeless_count_++]) =
        static_cast<std::uint16_t>(at);
    if (at + length_of(head) != words_) return false;
    std::fill_n(payload_, words_, ~std::uint64_t{0});
    for (std::uint32_t i = 0; i < timed_count_; ++i) payload_[timed_[i]] = 0;
    return true;
  }
  std::uint32_t records() const { return timed_count_ + timeless_count_; }

  // Whether the turn at `at`, which has all its words, repeats the one before; if so, its times are
  // written and added to `ticks`.
  bool repeats(const std::uint64_t* at, char*& time, std::uint64_t& ticks) const {
    const std::uint64_t* before = at - words_;
    char* written = time;
    std::uint64_t different = 0, sum = 0;
    // Heads first: a payload is there once its head is.
    for (std::uint32_t i = 0; i < timeless_count_; ++i)
      different |= published(at + timeless_[i]) ^ before[timeless_[i]];
    for (std::uint32_t i = 0; i < timed_count_; ++i) {
      const std::uint64_t head = published(at + timed_[i]);
      different |= timeless(head ^ before[timed_[i]]);
      different |= time_of(head) == 0 ? 1 : 0;
      written = put_time(written, time_of(head));
      sum += time_of(head);
    }
    if (different != 0) return false;
    for (std::size_t i = 0; i < words_; ++i) different |= (at[i] ^ before[i]) & payload_[i];
    if (different != 0) return false;
    time = written;
    ticks += sum;
    return true;
  }

  // Writes a turn to `at`, like the one before it. `set_time` changes a head's time; false if it does.
  template <class SetTime>
  bool repeat(std::uint64_t* at, SetTime&& set_time) const {
    std::memcpy(at, at - words_, words_ * sizeof *at);
    for (std::uint32_t i = 0; i < timed_count_; ++i) {
      if (!set_time(at[timed_[i]])) return false;
    }
    return true;
  }

 private:
  std::size_t words_;
  std::uint32_t timed_count_ = 0, timeless_count_ = 0;
  std::uint16_t timed_[kMostWords], timeless_[kMostWords];
  std::uint64_t payload_[kMostWords];  // all bits, but none of a head with a time
};

}  // namespace

bool RecordPacker::make_room(std::size_t words) noexcept {
  if (words <= room_ && bytes_ != nullptr) return true;
  room_ = 0;
  commands_.reset(new (std::nothrow) char[words * kCommandBytes + kSlack]);
  times_.reset(new (std::nothrow) char[words * kTimeBytes + kSlack]);
  constexpr std::size_t kMost = sizeof(std::uint64_t) + kCommandBytes + kTimeBytes;
  bytes_.reset(new (std::nothrow) char[words * kMost + 2 * kSlack + kSizes]);
  if (commands_ == nullptr || times_ == nullptr || bytes_ == nullptr) return false;
  room_ = words;
  return true;
}

RecordPacker::Packed RecordPacker::pack(const std::uint64_t* words, std::size_t most,
                                        std::uint64_t first_ticks) noexcept {
  if (most >= kNowhere || !make_room(most)) return {};
  std::memset(seen_, 0xff, sizeof seen_);
  char *literal = bytes_.get() + kSizes, *command = commands_.get(), *time = times_.get();
  std::uint64_t ticks = first_ticks;
  std::size_t at = 0, unsaid = 0;  // literal records that no command has counted yet
  std::uint32_t records = 0;
  std::uint64_t head = 0;
  // A record that is there as a whole; its head is then in `head`.
  const auto is_whole = [&] {
    if (at >= most) return false;
    head = published(words + at);
    return head != 0 && length_of(head) <= most - at;
  };
  while (is_whole()) {
    const std::size_t length = length_of(head);
    const std::uint64_t key = (head << 32) ^ (length > 1 ? words[at + 1] * 0x9e3779b97f4a7c15 : 0);
    std::uint32_t& seen = seen_[key * 0x9e3779b97f4a7c15 >> (64 - kTableBits)];
    const std::uint32_t before = seen;
    seen = static_cast<std::uint32_t>(at);
    if (before != kNowhere && !is_absolute_time(head)) {
      const std::size_t distance = at - before, begin = records, first = at;
      LoopTurn turn(distance);
      while (const std::size_t same = repeated(words + at, head, words + at - distance)) {
        if (is_absolute_time(head)) break;  // counts as it stands
        const bool is_turn = turn.add(at - first, head);
        time = put_time(time, time_of(head));
        ticks += time_of(head);
        at += same;
        ++records;
        if (is_turn) {
          for (; distance <= most - at && turn.repeats(words + at, time, ticks); at += distance)
            records += turn.records();
        }
        if (!is_whole()) break;
      }
      if (records != begin) {
        command = put_number(command, unsaid);
        command = put_number(command, records - begin);
        command = put_number(command, distance);
        unsaid = 0;
        continue;
      }
    }
    time = put_time(time, time_of(head));
    ticks = is_absolute_time(head) && length > 1 ? words[at + 1] : ticks + time_of(head);
    const std::uint64_t written = timeless(head) | (time_of(head) != 0 ? kTimed : 0);
    std::memcpy(literal, &written, sizeof written);
    std::memcpy(literal + sizeof written, words + at + 1, (length - 1) * sizeof *words);
    literal += length * sizeof *words;
    at += length;
    ++unsaid;
    ++records;
  }
  command = put_number(command, unsaid);
  command = put_number(command, 0);
  const auto literal_bytes = static_cast<std::size_t>(literal - bytes_.get()) - kSizes;
  const auto command_bytes = static_cast<std::size_t>(command - commands_.get());
  const auto time_bytes = static_cast<std::size_t>(time - times_.get());
  const std::uint32_t sizes[] = {static_cast<std::uint32_t>(literal_bytes / sizeof *words),
                                 static_cast<std::uint32_t>(command_bytes)};
  std::memcpy(bytes_.get(), sizes, kSizes);
  std::memcpy(literal, commands_.get(), command_bytes);
  std::memcpy(literal + command_bytes, times_.get(), time_bytes);
  return {bytes_.get(), kSizes + literal_bytes + command_bytes + time_bytes, at, records, ticks};
}

namespace {

// Takes bytes from a payload that may hold anything.
class PackedReader {
 public:
  PackedReader(const char* payload, std::size_t size) {
    std::uint32_t sizes[2];
    if (size < kSizes) return;
    std::memcpy(sizes, payload, kSizes);
    const std::uint64_t literals = std::uint64_t{sizes[0]} * sizeof(std::uint64_t);
    if (literals + sizes[1] > size - kSizes) return;
    literal_ = payload + kSizes;
    literals_end_ = command_ = literal_ + literals;
    commands_end_ = time_ = command_ + sizes[1];
    end_ = payload + size;
    is_whole_ = true;
  }

  bool is_whole() const { return is_whole_; }
  bool is_at_end() const { return literal_ == literals_end_ && time_ == end_; }

  bool number(std::uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && command_ != commands_end_; shift += 7) {
      const auto byte = static_cast<unsigned char>(*command_++);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  // A literal record into `at`, which has room for `room` words. Its length, or 0.
  std::size_t literal(std::uint64_t* at, std::size_t room) {
    const auto left = static_cast<std::size_t>(literals_end_ - literal_) / sizeof *at;
    if (left == 0 || room == 0) return 0;
    std::memcpy(at, literal_, sizeof *at);
    const std::size_t length = length_of(*at);
    if (length > left || length > room || !set_time(*at)) return 0;
    for (std::size_t i = 1; i < length; ++i)
      std::memcpy(at + i, literal_ + i * sizeof *at, sizeof *at);
    literal_ += length * sizeof *at;
    return length;
  }

  // The same for one that repeats the one `distance` words before.
  std::size_t repeat(std::uint64_t* at, std::size_t room, std::size_t distance) {
    const std::uint64_t* before = at - distance;
    const std::size_t length = room == 0 ? 0 : length_of(*before);
    if (length > room) return 0;
    for (std::size_t i = 0; i < length; ++i) at[i] = before[i];  // they may overlap
    return length == 0 || !set_time(at[0]) ? 0 : length;
  }

  bool set_time(std::uint64_t& head) {
    if (time_of(head) == 0) return true;
    std::uint64_t bytes = 0;
    const auto left = static_cast<std::size_t>(end_ - time_);
    if (left >= sizeof bytes) {
      std::memcpy(&bytes, time_, sizeof bytes);
    } else {
      std::memcpy(&bytes, time_, left);
    }
    // By the two lowest bits, without branches: times are short and long in any order.
    static constexpr struct {
      std::uint64_t value;
      std::uint8_t shift, length;
    } kForms[] = {{0x7f, 1, 1}, {0x3fff, 2, 2}, {0x7f, 1, 1}, {0xffffffff, 8, kTimeBytes}};
    const auto& form = kForms[bytes & 3];
    if (form.length > left) return false;
    const std::uint64_t value = bytes >> form.shift & form.value;
    time_ += form.length;
    head = timeless(head) | value << kTimeShift;
    return value != 0;  // or those that repeat it would have no time
  }

 private:
  const char *literal_ = nullptr, *literals_end_ = nullptr, *command_ = nullptr,
             *commands_end_ = nullptr, *time_ = nullptr, *end_ = nullptr;
  bool is_whole_ = false;
};

}  // namespace

bool unpack_records(const char* payload, std::size_t size, std::uint64_t* records,
                    std::size_t words) {
  PackedReader packed(payload, size);
  if (!packed.is_whole()) return false;
  std::size_t at = 0;
  for (std::uint64_t count = 0; packed.number(count);) {
    for (; count > 0; --count) {
      const std::size_t length = packed.literal(records + at, words - at);
      if (length == 0) return false;
      at += length;
    }
    std::uint64_t distance = 0;
    if (!packed.number(count)) return false;
    if (count == 0) return at == words && packed.is_at_end();
    if (!packed.number(distance) || distance == 0 || distance > at) return false;
    const std::size_t first = at;
    LoopTurn turn(distance);
    while (count > 0) {
      const std::size_t length = packed.repeat(records + at, words - at, distance);
      if (length == 0) return false;
      const bool is_turn = turn.add(at - first, records[at]);
      at += length;
      --count;
      for (; is_turn && count >= turn.records() && distance <= words - at; at += distance) {
        if (!turn.repeat(records + at, [&](std::uint64_t& head) { return packed.set_time(head); }))
          return false;
        count -= turn.records();
      }
    }
  }
  return false;
}

}  // namespace fathom::trace

// SPDX-License-Identifier: BSD-3-Clause
// When the messages of each channel were sent, or their receives posted: one to four bytes each,
// in memory of a fixed size.
//
// A list of times is kept in chunks of one ring. When the ring is full, the oldest chunk of all is
// given to the list that needs one, and its list forgets its oldest times. Times are differences in units
// of 2^kUnitBits ticks, as zigzag LEB128.
//
// append() never allocates, locks or calls the kernel. Threading: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/leb128.h"
#include "base/reserved_array.h"

namespace fathom::profiler {

class TimeLog {
 public:
  static constexpr std::uint32_t kNone = ~0u;
  static constexpr int kUnitBits = 6;  // some 20 ns

  // One list of times, in order of their ordinals. Zero-initialized memory is an empty list.
  struct List {
    std::uint64_t count = 0;       // how many were appended
    std::uint64_t last = 0;        // units
    std::uint32_t first_plus = 0;  // chunk + 1; 0: none
    std::uint32_t chunk_plus = 0;
    std::uint32_t used = 0;  // bytes in the latter
  };

  // False without address space. Memory is taken as it is used, `bytes` at most. `grew`: called each time that
  // more is taken, unless null.
  bool open(std::size_t bytes, void (*grew)() = nullptr);
  std::size_t used() const { return taken_ * sizeof(Chunk); }

  void append(List& list, std::uint64_t ticks) {
    const std::uint64_t units = ticks >> kUnitBits;
    if (list.chunk_plus == 0 || list.used + kLongest > sizeof Chunk::bytes) [[unlikely]]
      begin_chunk(list, units);
    std::uint8_t* const bytes = chunks_[list.chunk_plus - 1].bytes;
    std::uint8_t* const end = base::put_leb128(bytes + list.used, base::zigzag(units, list.last));
    list.used = static_cast<std::uint32_t>(end - bytes);
    list.last = units;
    list.count += 1;
  }

  // The same time as the last once more, for something whose own is kept elsewhere or not known.
  void repeat(List& list) { append(list, list.last << kUnitBits); }

  // The last one appended never happened (a cancelled receive).
  [[gnu::noinline]] void take_back(List& list);

  // Reads times in ascending order of their ordinals. Forgotten ones are 0.
  class Reader {
   public:
    Reader(const TimeLog& log, const List& list) : log_(&log), list_(&list) { restart(); }

    // In ticks, rounded down to units.
    std::uint64_t at(std::uint64_t ordinal);

   private:
    friend class TimeLog;
    void restart();
    void enter(std::uint32_t chunk_plus);
    void step();

    const TimeLog* log_;
    const List* list_;
    std::uint32_t chunk_plus_ = 0;
    std::uint64_t next_ = 0;  // ordinal that step() reads
    std::uint64_t units_ = 0;
    const std::uint8_t* at_ = nullptr;
  };

 private:
  static constexpr std::uint32_t kLongest = 10;

  struct Chunk {
    List* owner;
    std::uint64_t first;  // ordinal
    std::uint64_t base;   // units of the time before
    std::uint32_t next_plus;
    std::uint32_t reserved;
    std::uint8_t bytes[224];
  };
  static_assert(sizeof(Chunk) == 256);

  [[gnu::noinline]] void begin_chunk(List& list, std::uint64_t units);

  base::ReservedArray<Chunk> memory_;
  Chunk* chunks_ = nullptr;
  std::uint32_t chunk_count_ = 0;
  std::uint32_t next_chunk_ = 0, taken_ = 0;
  void (*grew_)() = nullptr;
};

}  // namespace fathom::profiler

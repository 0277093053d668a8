// SPDX-License-Identifier: BSD-3-Clause
// The calls that may have waited, each with the stretch before it, packed into memory of a bounded
// size: a call of a halo exchange, with four parts and four sums, takes some 50 bytes.
//
// Numbers are LEB128, moments differences from the call before, and rows differences of their
// addresses. The fields of a call stand in the order of Record.
//
// append() never allocates or locks. Threading: one at a time; one reader at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/reserved_array.h"
#include "profile/rows.h"

namespace fathom::profiler {

class CallLog {
 public:
  // The calls of one place in a stretch.
  struct Sum {
    const profile::CallRow* row;
    std::uint64_t ticks;
    std::uint64_t program_ticks;  // what the program did just before them
    std::uint64_t calls, bytes;
  };
  struct Stretch {
    const Sum* sums;
    std::uint32_t count;
    std::uint64_t short_waits;  // ticks of calls in it that may have waited and were left out
  };
  // A call, and the stretch before it. A record without a row only ends a stretch.
  struct Record {
    std::uint64_t entered = 0, left = 0;  // ticks
    const profile::CallRow* row = nullptr;
    std::uint64_t bytes = 0;
    bool of_main = false;
    const std::uint64_t* parts = nullptr;  // words: Part, or kIsFacts with CollectiveFacts
    std::uint32_t part_count = 0;
    Stretch stretch{};  // none unless of_main
  };
  static constexpr std::uint64_t kIsFacts = std::uint64_t{1} << 63;
  static constexpr int kOrdinalBits = 40;  // the lowest of a Part

  // False without address space. `bytes`: that it may take at most.
  bool open(std::size_t bytes);

  std::size_t used() const { return used_; }
  std::size_t most() const { return most_; }
  std::size_t count() const { return count_; }  // of records
  // What a record may need at most.
  static std::size_t most_bytes(std::uint32_t parts, std::uint32_t sums) {
    return kMostHead + kMostPart * parts + kMostSum * sums;
  }

  // Sums that a record may have.
  std::size_t most_sums() const { return most_ / sizeof(Sum); }

  // There must be room. The record's memory may be that of the Reader.
  void append(const Record& record);

  // Reads records in the order in which they were appended.
  class Reader {
   public:
    explicit Reader(const CallLog& log) : Reader(log, log.data(), log.used_) {}
    // What the record points to is valid until the next call, of any reader.
    bool next(Record& record);
    // Where the present record begins; for stretch_at().
    std::size_t at() const { return at_; }
    std::size_t size() const { return next_ - at_; }

   private:
    friend class CallLog;
    Reader(const CallLog& log, const std::uint8_t* bytes, std::size_t end)
        : log_(log), bytes_(bytes), end_(end) {}

    const CallLog& log_;
    const std::uint8_t* bytes_;
    std::size_t at_ = 0, next_ = 0, end_;
    std::uint64_t left_ = 0;
  };

  // The stretch before the record that begins there. Valid as long as what a Reader returns.
  Stretch stretch_at(std::size_t at) const;

  // Calls f(record) for each record and forgets it; f appends what stays, which together may not be
  // longer.
  template <typename F>
  void rewrite(F&& f) {
    Reader reader(*this, move_away(), used_);
    used_ = count_ = 0;
    left_ = 0;
    Record record;
    while (reader.next(record)) f(record);
    give_back();
  }

 private:
  static constexpr std::size_t kMostHead = 64, kMostPart = 10, kMostSum = 50;

  const std::uint8_t* data() const { return bytes_.data(); }
  const std::uint8_t* move_away();
  void give_back();
  const std::uint8_t* decode(const std::uint8_t* from, Record& record,
                             std::uint64_t left_before) const;

  base::ReservedArray<std::uint8_t> bytes_;   // twice as long as needed, for rewrite()
  base::ReservedArray<std::uint64_t> parts_;  // of the record that was read last
  base::ReservedArray<Sum> sums_;
  std::size_t used_ = 0, most_ = 0, moved_ = 0, count_ = 0;
  std::uint64_t left_ = 0;                    // of the record before
  const profile::CallRow* anchor_ = nullptr;  // the row that was named first
};

}  // namespace fathom::profiler

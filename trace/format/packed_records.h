// SPDX-License-Identifier: BSD-3-Clause
// Records of a trace, packed: what a program repeats is written once, and times in the bytes they need.
//
// A loop of a program appends the same records again and again, and only their times differ. So a
// record is compared with the one that followed the last time, and a run of equal ones becomes three
// numbers; zstd, which compares bytes, finds the same but takes some four times as long, and beside
// a rank that has its core to itself this time is the rank's. What is left over compresses better too.
//
// The payload of a frame with kPacked (after decompression, if it has kCompressed as well):
//
//   literal words 32 | bytes of commands 32 | literals | commands | times
//
//   commands  numbers in LEB128: L literal records follow; then R records repeat those D words
//             before; and so on, to an R of 0, which has no D
//   literals  whole records, each with 0 in place of its time if that is 0, else 1
//   times     of each record whose time is not 0, as x: below 2^7 the byte 2x, below 2^14 the two
//             bytes 4x + 1, else the byte 3 and x in four bytes. A repeated record's time is 0
//             exactly if that of the one before is.
//
// Little-endian. Threading: each thread that packs needs a RecordPacker of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace fathom::trace {

class RecordPacker {
 public:
  struct Packed {
    const char* bytes = nullptr;  // valid until the next pack(); null: there was no memory
    std::size_t size = 0;
    std::size_t words = 0;  // that were packed
    std::uint32_t records = 0;
    std::uint64_t last_ticks = 0;  // the time of the last record
  };

  // The whole records at the beginning of `words`, up to the first zero head or `most` words. Never
  // throws. Costs some 2 ns for a record that repeats.
  Packed pack(const std::uint64_t* words, std::size_t most, std::uint64_t first_ticks) noexcept;

 private:
  struct Writing;
  bool make_room(std::size_t words) noexcept;

  static constexpr int kTableBits = 12;
  std::uint32_t seen_[1 << kTableBits];  // where a record like this was last, by its hash
  std::size_t room_ = 0;                 // words that the following suffice for
  std::unique_ptr<char[]> commands_, times_, bytes_;
};

// Fills exactly `words` words. False if the payload is damaged; any bytes are safe.
bool unpack_records(const char* payload, std::size_t size, std::uint64_t* records,
                    std::size_t words);

}  // namespace fathom::trace

// SPDX-License-Identifier: BSD-3-Clause
// The memory that a flight recorder shares with its keeper (trace/format/flight.h), as the keeper
// sees it.
//
// The process may write to it while this reads, or may have ended in the middle of a record: only
// whole records count.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/format/flight.h"
#include "trace/format/format.h"

namespace fathom::profiler {

// The records of one chunk, copied.
struct KeptChunk {
  trace::FrameHeader frame{};  // kind, thread, records, sequence and ticks
  std::vector<std::uint64_t> words;
  std::uint32_t number = 0;  // in the memory
};

class KeptMemory {
 public:
  // False if the descriptor holds no such memory.
  bool open(int descriptor);

  const trace::LiveHeader& header() const {
    return *reinterpret_cast<const trace::LiveHeader*>(memory_);
  }
  bool has_ended() const;
  std::uint32_t asked() const;
  bool uses_counter() const { return flight()->uses_counter != 0; }
  std::uint64_t lost() const;

  // The oldest full chunks, as many as must go so that one in kFreeShare is free. let_go() frees
  // them.
  std::vector<KeptChunk> surplus() const;
  void let_go(const KeptChunk& chunk);

  // What there is now, by thread and sequence.
  std::vector<KeptChunk> copy() const;
  // When the oldest of the records was made; 0: there are none.
  std::uint64_t oldest_ticks() const;

 private:
  static constexpr std::uint32_t kFreeShare = 4;

  trace::FlightHeader* flight() const {
    return reinterpret_cast<trace::FlightHeader*>(memory_ + trace::kFlightHeaderOffset);
  }
  trace::LiveChunkHeader* chunk(std::uint32_t number) const;
  KeptChunk copy_of(std::uint32_t number) const;

  char* memory_ = nullptr;
};

}  // namespace fathom::profiler

// SPDX-License-Identifier: BSD-3-Clause
// The steps of all processes that this analysis process owns, in temporary files (scratch.h), not
// in memory: 64 bytes per step on disk.
//
// Blocks of kBlockSteps steps each belong to one process; finding a step takes two array accesses. New blocks are in
// plain memory, because most of what is written to a step comes soon after it; later they are written to the files,
// which the kernel does faster than it maps page after page of a file for writing.
//
// Rejected: reading the trace again for each pass, with an index of matches beside it. Traces can
// only be read forwards, and decoding an event costs six times as much as reading a step.
// Threading: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "analysis/engine/step.h"
#include "base/result.h"
#include "base/scratch.h"

namespace fathom::analysis {

class StepFile {
 public:
  static constexpr std::size_t kBlockSteps = 256;

  explicit StepFile(std::size_t processes) : blocks_(processes), sizes_(processes) {}
  StepFile(const StepFile&) = delete;
  StepFile& operator=(const StepFile&) = delete;
  ~StepFile();

  // Number of steps of this process; 0 for processes of other owners.
  std::uint32_t size(std::size_t process) const { return sizes_[process]; }

  // Appends a default step and returns it and its number. References stay valid until the next
  // store_complete() or store_all(). If the file cannot grow, status() reports it and the step is lost.
  Step& append(std::size_t process, std::uint32_t& number) {
    number = sizes_[process];
    if (number % kBlockSteps == 0) add_block(process);
    ++sizes_[process];
    return *new (&at(process, number)) Step{};
  }

  Step& at(std::size_t process, std::uint32_t step) {
    return where_[blocks_[process][step / kBlockSteps]][step % kBlockSteps];
  }
  const Step& at(std::size_t process, std::uint32_t step) const {
    return const_cast<StepFile*>(this)->at(process, step);
  }

  // The first step of a process at or after a moment; size(process): none. Steps are in the order of time.
  std::uint32_t first_at(std::size_t process, std::uint64_t time_ns) const;

  // Now and then while steps are appended: writes blocks to the files that were full the last time.
  void store_complete();
  // After the last step was appended: all of them.
  void store_all();

  // Takes over the stored steps of processes that have none here. Afterwards nothing can be appended.
  void take(StepFile& other);

  // Announces writes to this step's block: one call to the kernel instead of two faults per page.
  void will_write(std::size_t process, std::uint32_t step);

  // Call this now and then while running through many steps (base::scratch::touched).
  static void touched(std::size_t steps) { base::scratch::touched(steps * sizeof(Step)); }

  base::Status status() const;
  std::uint64_t bytes() const { return where_.size() * kBlockBytes; }

 private:
  static constexpr std::size_t kBlockBytes = kBlockSteps * sizeof(Step);
  static constexpr std::size_t kSegmentBlocks = 512;
  static constexpr std::size_t kSegmentBytes = kSegmentBlocks * kBlockBytes;
  static_assert(kBlockBytes % 4096 == 0);

  using Plain = std::unique_ptr<char[]>;  // memory of a block

  struct Segment {
    char* begin = nullptr;
    int file = -1;  // open until all blocks are stored
    std::size_t stored = 0;
  };

  void add_block(std::size_t process);
  bool add_segment();
  void store(std::uint32_t number);

  std::vector<std::vector<std::uint32_t>> blocks_;  // by process: indices of its blocks
  std::vector<std::uint32_t> sizes_;
  std::vector<Step*> where_;       // by block
  std::vector<Plain> plain_;       // by block; null: it is stored
  std::vector<Segment> segments_;  // kSegmentBlocks blocks each
  std::vector<std::uint32_t> full_,
      full_before_;  // blocks, since and before the last store_complete()
  std::vector<Plain> spare_;
  std::string problem_;
  std::uint32_t overflow_ = kNobody;  // the block that takes steps after a failure, never stored
};

}  // namespace fathom::analysis

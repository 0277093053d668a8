// SPDX-License-Identifier: BSD-3-Clause
// The steps of all processes that this analysis process owns, in temporary files (scratch.h), not
// in memory: 64 bytes per step on disk.
//
// Blocks of kBlockSteps steps each belong to one process; finding a step takes two array accesses.
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
  static constexpr std::size_t kBlockSteps = 1024;

  explicit StepFile(std::size_t processes) : blocks_(processes), sizes_(processes) {}
  StepFile(const StepFile&) = delete;
  StepFile& operator=(const StepFile&) = delete;
  ~StepFile();

  // Number of steps of this process; 0 for processes of other owners.
  std::uint32_t size(std::size_t process) const { return sizes_[process]; }

  // Appends a default step and returns it and its number. References stay valid to the end. If the
  // file cannot grow, status() reports it and the step is lost.
  Step& append(std::size_t process, std::uint32_t& number) {
    number = sizes_[process];
    if (number % kBlockSteps == 0) add_block(process);
    ++sizes_[process];
    return *new (&at(process, number)) Step{};
  }

  Step& at(std::size_t process, std::uint32_t step) {
    return block(blocks_[process][step / kBlockSteps])[step % kBlockSteps];
  }
  const Step& at(std::size_t process, std::uint32_t step) const {
    return const_cast<StepFile*>(this)->at(process, step);
  }

  // Takes over the steps of processes that have none here. Afterwards nothing can be appended.
  void take(StepFile& other);

  // Announces writes to this step's block: one call to the kernel instead of two faults per page.
  void will_write(std::size_t process, std::uint32_t step);

  // Call this now and then while running through many steps (base::scratch::touched).
  static void touched(std::size_t steps) { base::scratch::touched(steps * sizeof(Step)); }

  base::Status status() const;
  std::uint64_t bytes() const { return used_blocks_ * kBlockBytes; }

 private:
  static constexpr std::size_t kBlockBytes = kBlockSteps * sizeof(Step);
  static constexpr std::size_t kSegmentBlocks = 256;
  static constexpr std::size_t kSegmentBytes = kSegmentBlocks * kBlockBytes;
  static_assert(kBlockBytes % 4096 == 0);

  Step* block(std::uint32_t number) {
    return reinterpret_cast<Step*>(segments_[number / kSegmentBlocks]) +
           number % kSegmentBlocks * kBlockSteps;
  }
  void add_block(std::size_t process);
  bool add_segment();

  std::vector<std::vector<std::uint32_t>> blocks_;  // by process: indices of its blocks
  std::vector<std::uint32_t> sizes_;
  std::vector<char*> segments_;  // kSegmentBlocks blocks each
  std::uint32_t used_blocks_ = 0;
  std::string problem_;
  std::unique_ptr<char[]> overflow_;  // takes steps after a failure
};

}  // namespace fathom::analysis

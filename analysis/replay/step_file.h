// The steps of all processes that this analysis process looks after, in a temporary file that is mapped, not
// in memory: 64 bytes a step on disk, while what is resident stays within kMostResident.
//
// The file lies in $TMPDIR, else /var/tmp, has no name, and is gone with the process. Blocks of kBlockSteps
// steps belong to one process each; finding a step is two array accesses.
//
// Rejected: going through the trace again for each pass, with an index of matches beside it. Traces can only be
// read forwards, and decoding an event costs six times what reading a step does.
// Threading: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/replay/step.h"
#include "base/result.h"

namespace fathom::analysis {

class StepFile {
 public:
  static constexpr std::size_t kBlockSteps = 1024;
  static constexpr std::size_t kMostResident = std::size_t{64} << 20;  // bytes

  explicit StepFile(std::size_t processes) : blocks_(processes), sizes_(processes) {}
  StepFile(StepFile&& other) noexcept;
  StepFile& operator=(StepFile&& other) noexcept;
  ~StepFile();

  // Number of steps of this process. Processes of others have none.
  std::uint32_t size(std::size_t process) const { return sizes_[process]; }

  // A new last step, all defaults, and its number. References hold until the end.
  // When the file cannot grow, status() tells and the step goes nowhere.
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

  // The block that this step is in will be written: one call to the kernel, instead of two faults for each page.
  void will_write(std::size_t process, std::uint32_t step);

  // Whoever goes through many steps says so now and then; what is beyond the limit leaves memory (not the file).
  // Steps of others that were looked at meanwhile count too: the kernel is asked how much is resident.
  void touched(std::size_t steps) {
    touched_bytes_ += steps * sizeof(Step);
    if (touched_bytes_ >= kLookEvery) look();
  }

  base::Status status() const;
  std::uint64_t bytes() const { return used_blocks_ * kBlockBytes; }

 private:
  static constexpr std::size_t kBlockBytes = kBlockSteps * sizeof(Step);
  static constexpr std::size_t kSegmentBlocks = 256;
  static constexpr std::size_t kLookEvery = std::size_t{4} << 20;
  static_assert(kBlockBytes % 4096 == 0);

  Step* block(std::uint32_t number) {
    return reinterpret_cast<Step*>(segments_[number / kSegmentBlocks]) + number % kSegmentBlocks * kBlockSteps;
  }
  void add_block(std::size_t process);
  char* new_segment();
  void look();
  void give_back();

  std::vector<std::vector<std::uint32_t>> blocks_;  // by process: numbers of its blocks in the file
  std::vector<std::uint32_t> sizes_;
  std::vector<char*> segments_;  // mappings of kSegmentBlocks blocks each
  std::uint32_t used_blocks_ = 0;
  std::size_t touched_bytes_ = 0;     // since the last look
  std::size_t passed_bytes_ = 0;      // since memory was given back
  std::size_t resident_before_ = 0;   // bytes of mapped files, with the steps given back
  int file_ = -1;
  std::string problem_;
};

}  // namespace fathom::analysis

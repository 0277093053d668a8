// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/step_file.h"

#include <sys/mman.h>

#include <utility>

namespace fathom::analysis {

StepFile::~StepFile() {
  for (char* segment : segments_) {
    if (segment != overflow_.get()) base::scratch::unmap(segment, kSegmentBytes);
  }
}

base::Status StepFile::status() const {
  if (problem_.empty()) return base::Done{};
  return base::Error{problem_};
}

void StepFile::add_block(std::size_t process) {
  const bool full = used_blocks_ == segments_.size() * kSegmentBlocks;
  if (full &&
      !add_segment()) {  // the analysis will end with an error; until then steps overwrite each
                         // other
    blocks_[process].push_back(0);
    return;
  }
  touched(kBlockSteps);
  blocks_[process].push_back(used_blocks_++);
#ifdef MADV_POPULATE_WRITE
  madvise(block(used_blocks_ - 1), kBlockBytes, MADV_POPULATE_WRITE);
#endif
}

bool StepFile::add_segment() {
  if (problem_.empty()) {
    if (const auto mapped = base::scratch::map(kSegmentBytes)) {
      segments_.push_back(*mapped);
      return true;
    } else {
      problem_ = mapped.error().message;
    }
  }
  if (segments_.empty()) {
    overflow_ = std::make_unique<char[]>(kSegmentBytes);
    segments_.push_back(overflow_.get());
  }
  return false;
}

void StepFile::take(StepFile& other) {
  const auto before = static_cast<std::uint32_t>(segments_.size() * kSegmentBlocks);
  segments_.insert(segments_.end(), other.segments_.begin(), other.segments_.end());
  other.segments_.clear();
  used_blocks_ += other.used_blocks_;
  for (std::size_t process = 0; process < sizes_.size(); ++process) {
    if (other.sizes_[process] == 0) continue;
    sizes_[process] = std::exchange(other.sizes_[process], 0);
    blocks_[process] = std::move(other.blocks_[process]);
    for (std::uint32_t& block : blocks_[process]) block += before;
  }
}

void StepFile::will_write(std::size_t process, std::uint32_t step) {
#ifdef MADV_POPULATE_WRITE  // before Linux 5.14 pages are populated one by one
  if (step < sizes_[process])
    madvise(&at(process, step - step % kBlockSteps), kBlockBytes, MADV_POPULATE_WRITE);
#else
  static_cast<void>(process), static_cast<void>(step);
#endif
}

}  // namespace fathom::analysis

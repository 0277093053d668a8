// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/step_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

namespace fathom::analysis {
namespace {

bool write_block(int file, const char* bytes, std::size_t size, std::size_t offset) {
  while (size > 0) {
    const ssize_t written = pwrite(file, bytes, size, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<std::size_t>(written);
    offset += static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace

StepFile::~StepFile() {
  for (const Segment& segment : segments_) {
    if (segment.file >= 0) close(segment.file);
    base::scratch::unmap(segment.begin, kSegmentBytes);
  }
}

std::uint32_t StepFile::first_at(std::size_t process, std::uint64_t time_ns) const {
  std::uint32_t low = 0, high = size(process);
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (at(process, middle).time_ns < time_ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

base::Status StepFile::status() const {
  if (problem_.empty()) return base::Done{};
  return base::Error{problem_};
}

void StepFile::add_block(std::size_t process) {
  std::vector<std::uint32_t>& blocks = blocks_[process];
  if (!blocks.empty()) full_.push_back(blocks.back());
  const bool full = where_.size() == segments_.size() * kSegmentBlocks;
  // The analysis will end with an error; until then steps overwrite each other.
  const bool failed = overflow_ != kNobody || (full && !add_segment());
  if (failed && overflow_ != kNobody) return blocks.push_back(overflow_);
  const auto number = static_cast<std::uint32_t>(where_.size());
  if (failed) overflow_ = number;
  if (spare_.empty()) {
    plain_.push_back(std::make_unique<char[]>(kBlockBytes));
  } else {
    plain_.push_back(std::move(spare_.back()));
    spare_.pop_back();
  }
  where_.push_back(reinterpret_cast<Step*>(plain_.back().get()));
  blocks.push_back(number);
}

bool StepFile::add_segment() {
  Segment segment;
  const auto mapped = base::scratch::map(kSegmentBytes, &segment.file);
  if (!mapped) {
    problem_ = mapped.error().message;
    return false;
  }
  segment.begin = *mapped;
  segments_.push_back(segment);
  return true;
}

void StepFile::store(std::uint32_t number) {
  if (plain_[number] == nullptr || number == overflow_) return;
  Segment& segment = segments_[number / kSegmentBlocks];
  const std::size_t offset = number % kSegmentBlocks * kBlockBytes;
  char* const place = segment.begin + offset;
  if (!write_block(segment.file, plain_[number].get(), kBlockBytes, offset))
    std::memcpy(place, plain_[number].get(), kBlockBytes);
  where_[number] = reinterpret_cast<Step*>(place);
  spare_.push_back(std::move(plain_[number]));
  if (++segment.stored == kSegmentBlocks) close(std::exchange(segment.file, -1));
  // Few steps change after they were stored, but with each of them the kernel maps some of its neighbours.
  touched(8 * kBlockSteps);
}

void StepFile::store_complete() {
  for (const std::uint32_t number : full_before_) store(number);
  full_before_.clear();
  full_before_.swap(full_);
}

void StepFile::store_all() {
  for (std::uint32_t number = 0; number < where_.size(); ++number) store(number);
  for (Segment& segment : segments_) {
    if (segment.file >= 0) close(std::exchange(segment.file, -1));
  }
  full_.clear();
  full_before_.clear();
  spare_.clear();
}

void StepFile::take(StepFile& other) {
  const auto before = static_cast<std::uint32_t>(where_.size());
  where_.insert(where_.end(), other.where_.begin(), other.where_.end());
  plain_.insert(plain_.end(), std::make_move_iterator(other.plain_.begin()),
                std::make_move_iterator(other.plain_.end()));
  segments_.insert(segments_.end(), other.segments_.begin(), other.segments_.end());
  other.segments_.clear();
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

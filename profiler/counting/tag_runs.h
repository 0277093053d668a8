// SPDX-License-Identifier: BSD-3-Clause
// Which collective reserved which tag: runs of consecutive tags of one class, newest first.
//
// Open MPI gives a communicator's non-blocking collectives tags that count down; consecutive ones
// of one class share a run. Only the last kRuns runs are kept, which bounds memory however many
// collectives a program starts. A message of an older run counts as the library's own; that needs
// kRuns changes of class while the message was outstanding.
//
// Threading: one writer (add, clear), any number of readers. Readers never wait; a run that is
// being replaced appears empty.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

namespace fathom::profiler {

class TagRuns {
 public:
  static constexpr std::uint32_t kRuns = 1024;
  static constexpr std::uint32_t kNotFound = 127;  // kNoClass

  // Tags first >= ... >= last belong to `class_id`. Allocates on first use: not for callbacks.
  void add(std::int32_t first, std::int32_t last, std::uint32_t class_id) noexcept {
    if (runs_.load(std::memory_order_relaxed) == nullptr) {
      storage_.reset(new (std::nothrow) Run[kRuns]);
      if (storage_ == nullptr) return;
      runs_.store(storage_.get(), std::memory_order_release);
    }
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    if (count > 0) {
      Run& newest = storage_[(count - 1) % kRuns];
      const std::uint64_t range = newest.range.load(std::memory_order_relaxed);
      if (newest.class_id.load(std::memory_order_relaxed) == class_id &&
          last_of(range) == first + 1) {
        newest.range.store(pack(first_of(range), last), std::memory_order_release);
        return;
      }
    }
    Run& run = storage_[count % kRuns];
    run.range.store(kEmpty, std::memory_order_release);
    run.class_id.store(class_id, std::memory_order_release);
    run.range.store(pack(first, last), std::memory_order_release);
    count_.store(count + 1, std::memory_order_release);
  }

  std::uint32_t find(std::int32_t tag) const {
    const Run* runs = runs_.load(std::memory_order_acquire);
    if (runs == nullptr) return kNotFound;
    const std::uint32_t count = count_.load(std::memory_order_acquire);
    const std::uint32_t oldest = count > kRuns ? count - kRuns : 0;
    for (std::uint32_t i = count; i > oldest; --i) {
      const Run& run = runs[(i - 1) % kRuns];
      const std::uint64_t range = run.range.load(std::memory_order_acquire);
      if (tag <= first_of(range) && tag >= last_of(range)) {
        return run.class_id.load(std::memory_order_relaxed);
      }
    }
    return kNotFound;
  }

  void clear() {
    runs_.store(nullptr, std::memory_order_release);
    storage_.reset();
    count_.store(0, std::memory_order_release);
  }

 private:
  static constexpr std::uint64_t pack(std::int32_t first, std::int32_t last) {
    return std::uint64_t{static_cast<std::uint32_t>(first)} << 32 |
           static_cast<std::uint32_t>(last);
  }
  static constexpr std::int32_t first_of(std::uint64_t range) {
    return static_cast<std::int32_t>(range >> 32);
  }
  static constexpr std::int32_t last_of(std::uint64_t range) {
    return static_cast<std::int32_t>(range);
  }
  static constexpr std::uint64_t kEmpty = 0xffffffff'00000000;  // first -1, last 0: holds no tag

  struct Run {
    std::atomic<std::uint64_t> range{kEmpty};
    std::atomic<std::uint32_t> class_id{kNotFound};
  };
  std::unique_ptr<Run[]> storage_;
  std::atomic<Run*> runs_{nullptr};
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace fathom::profiler

// SPDX-License-Identifier: BSD-3-Clause
// The text section of a process's rows: lines "key value", added as the facts become known.
//
// Held in one contiguous buffer, so that a signal handler can write it without formatting anything.
// Threading: add() takes a lock; data() and size() work from anywhere and see whole lines only.
#pragma once

#include <atomic>
#include <cstring>
#include <mutex>
#include <string_view>

#include "base/reserved_array.h"
#include "profile/rows.h"

namespace fathom::profiler {

class RowsText {
 public:
  static constexpr std::size_t kCapacity = std::size_t{1} << 20;

  // `shared`: where it is to lie instead of in private memory.
  bool open(base::SharedMemory* shared = nullptr) {
    return memory_.reserve(kCapacity, shared, static_cast<std::uint32_t>(profile::Section::kText));
  }

  // Drops the line if it no longer fits.
  void add(std::string_view key, std::string_view value) {
    const std::lock_guard guard(lock_);
    std::size_t at = size_.load(std::memory_order_relaxed);
    if (at + key.size() + 2 * value.size() + 2 > kCapacity) return;
    if (!memory_.prepare(at + key.size() + 2 * value.size() + 2)) return;
    char* text = memory_.data();
    std::memcpy(text + at, key.data(), key.size());
    at += key.size();
    text[at++] = ' ';
    for (const char c : value) {
      if (c == '\n' || c == '\\') text[at++] = '\\';
      text[at++] = c == '\n' ? 'n' : c;
    }
    text[at++] = '\n';
    size_.store(at, std::memory_order_release);
  }

  const char* data() const { return memory_.data(); }
  std::size_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  std::mutex lock_;
  base::ReservedArray<char> memory_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace fathom::profiler

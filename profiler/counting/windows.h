// SPDX-License-Identifier: BSD-3-Clause
// The one-sided windows that are open: for each, the kind of communicator and the group it spans.
//
// Threading: all functions lock; an operation on a window costs far more than this lock.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "profiler/counting/live_communicator.h"

namespace fathom::profiler {

struct Window {
  const void* handle;
  Live* inside;          // the communicator that it keeps, and lives as long as; null: not known
  std::uint32_t kind;    // of communicator, in the registry
  const void* group;     // the window's own: lives as long as it
  std::uint32_t module;  // moves the data past the PML; 0: they travel as messages
};

class Windows {
 public:
  // Never throws; without memory the window's operations stay uncounted.
  void add(const Window& window) noexcept try {
    const std::lock_guard guard(lock_);
    open_.push_back(window);
  } catch (...) {
  }

  // Removes it. All members are null or 0 if it is not known.
  Window take(const void* handle) {
    const std::lock_guard guard(lock_);
    for (Window& window : open_) {
      if (window.handle != handle) continue;
      const Window taken = std::exchange(window, open_.back());
      open_.pop_back();
      return taken;
    }
    return {};
  }

  // A copy; all members are null or 0 if the window is not known.
  Window find(const void* handle) {
    const std::lock_guard guard(lock_);
    for (const Window& window : open_) {
      if (window.handle == handle) return window;
    }
    return {};
  }

 private:
  std::mutex lock_;
  std::vector<Window> open_;
};

}  // namespace fathom::profiler

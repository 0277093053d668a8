// SPDX-License-Identifier: BSD-3-Clause
// The open one-sided windows: for each, its kind of communicator and the group it spans.
//
// Threading: all functions lock; an operation on a window costs far more than the lock.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "profiler/counting/live_communicator.h"

namespace fathom::profiler {

struct Window {
  const void* handle;
  Live* inside;          // the communicator inside the window, with its lifetime; null: not known
  std::uint32_t kind;    // kind of communicator, in the registry
  const void* group;     // owned by the window, with its lifetime
  std::uint32_t module;  // the module that moves the data past the PML; 0: they are messages
};

class Windows {
 public:
  // Never throws; without memory the window's operations stay uncounted.
  void add(const Window& window) noexcept try {
    const std::lock_guard guard(lock_);
    open_.push_back(window);
  } catch (...) {
  }

  // Removes the window and returns it; all members are null or 0 if it is not known.
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

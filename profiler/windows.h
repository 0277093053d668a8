// The one-sided windows that are open: for each, the kind of communicator and the group it spans.
//
// Threading: all functions lock; an operation on a window costs far more than this lock.
#pragma once

#include <mutex>
#include <vector>

#include "profiler/live.h"

namespace fathom::profiler {

struct Window {
  const void* handle;
  std::uint32_t kind;
  const void* group;
  std::uint32_t module;  // 0: its data travel as PML messages as well
};

class Windows {
 public:
  // `inside`: the communicator that the window keeps. Never throws; without memory the window's
  // operations stay uncounted.
  void add(const void* handle, const Live& inside, std::uint32_t module) noexcept try {
    const std::lock_guard guard(lock_);
    open_.push_back({handle, inside.kind, inside.group, module});
  } catch (...) {
  }

  void remove(const void* handle) {
    const std::lock_guard guard(lock_);
    std::erase_if(open_, [handle](const Window& w) { return w.handle == handle; });
  }

  // A copy; handle is null if the window is not known.
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

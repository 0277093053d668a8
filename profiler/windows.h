// The one-sided windows that are open: for each, the kind of communicator and the group it spans.
//
// Threading: all functions lock; an operation on a window costs far more than this lock.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace fathom::profiler {

struct Window {
  const void* handle;
  std::uint32_t kind;  // of communicator, in the registry
  const void* group;   // the window's own: lives as long as it
  std::uint32_t module;  // 0: its data travel as PML messages as well
};

class Windows {
 public:
  // Never throws; without memory the window's operations stay uncounted.
  void add(const Window& window) noexcept try {
    const std::lock_guard guard(lock_);
    open_.push_back(window);
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

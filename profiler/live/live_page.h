// SPDX-License-Identifier: BSD-3-Clause
// The memory in which this process counts when others are to watch it (live/page.h).
//
// With FATHOM_LIVE=1, rows lie in a memory file instead of in private memory; counting itself does
// not change, and nothing is ever done for a reader. Memory is given to the file as it is needed
// (fallocate), so no store into it can fail; where there is none, private memory takes its place, and
// readers see that they miss something.
//
// A child made by fork would share the memory and add to it. It gets private memory at the same
// addresses instead, before fork returns to it.
//
// Threading: open() once, cold; the rest from any thread, cold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/reserved_array.h"
#include "live/page.h"

namespace fathom::profiler {

class LivePage final : public base::SharedMemory {
 public:
  // Whether FATHOM_LIVE asks for it.
  static bool is_wanted();

  // Null, with the reason, if the system refuses. The page is never given back.
  static LivePage* open(std::string& why);
  // The one that open() made, or null. Also null in a forked child.
  static LivePage* own() { return own_; }

  void* take(std::size_t bytes, std::uint32_t kind, std::uint32_t element_bytes) override;
  std::size_t provide(void* taken, std::size_t bytes) override;

  live::PageHeader& header() { return *header_; }
  int descriptor() const { return descriptor_; }
  // From here on readers take it for a process of that run.
  void begin(const profile::RowsHeader& rows, const std::string& run_directory);
  void set_state(live::PageState state) { header_->state.store(state, std::memory_order_release); }

 private:
  struct Taken {
    void* memory;
    std::size_t bytes;
  };

  LivePage() = default;
  bool make(std::string& why);
  bool give_memory(std::uint64_t offset, std::size_t bytes) const;
  static void in_forked_child();

  static inline LivePage* own_ = nullptr;

  std::mutex turn_;
  int descriptor_ = -1;
  std::uint64_t file_bytes_ = 0, used_bytes_ = 0;
  live::PageHeader* header_ = nullptr;
  Taken taken_[live::kMostRegions] = {};
};

}  // namespace fathom::profiler

// SPDX-License-Identifier: BSD-3-Clause
// Memory for data too large to keep resident: mapped temporary files without a name. They are in
// $TMPDIR, else /var/tmp, and vanish with the process. Their content is kept, while at most
// kMostResident of it stays in memory, provided that users report what they access (touched).
// Threading: any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

#include "base/result.h"

namespace fathom::base {

namespace scratch {

inline constexpr std::size_t kMostResident = std::size_t{64} << 20;  // bytes

// Zeroed memory. Its room on disk is taken in advance, so that no store into it can meet a full
// disk. An error names the folder that has no room. `bytes`: a multiple of the page size. `file`: if not null, gets
// the descriptor of the file, which is the caller's to close; what is written there is in the memory too.
Result<char*> map(std::size_t bytes, int* file = nullptr);
void unmap(char* begin, std::size_t bytes);

// Call it now and then with the number of bytes accessed: what exceeds the limit leaves memory, but
// not the file. Other accesses in between count too, because the kernel reports what is resident.
void touched(std::size_t bytes);

// Memory for an array: plain memory if the array is small or the disk has no room. Throws
// std::bad_alloc if there is none either.
void* take(std::size_t bytes);
void give(void* begin, std::size_t bytes);

}  // namespace scratch

template <typename T>
struct ScratchAllocator {
  using value_type = T;
  ScratchAllocator() = default;
  template <typename Other>
  ScratchAllocator(const ScratchAllocator<Other>&) {}

  T* allocate(std::size_t count) { return static_cast<T*>(scratch::take(count * sizeof(T))); }
  void deallocate(T* begin, std::size_t count) { scratch::give(begin, count * sizeof(T)); }
  template <typename Other>
  bool operator==(const ScratchAllocator<Other>&) const {
    return true;
  }
};

// For large arrays of plain structs.
template <typename T>
using ScratchVector = std::vector<T, ScratchAllocator<T>>;

// push_back for a vector of unknown final size: gives memory back while it moves the elements.
template <typename T>
T& append(ScratchVector<T>& all, const T& one) {
  if (all.size() == all.capacity()) {
    constexpr std::size_t kAtOnce = 1 << 16;
    ScratchVector<T> larger;
    larger.reserve(2 * all.size() + 1);
    for (std::size_t at = 0; at < all.size(); at += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, all.size() - at);
      larger.insert(larger.end(), all.data() + at, all.data() + at + count);
      scratch::touched(2 * count * sizeof(T));
    }
    all.swap(larger);
  }
  all.push_back(one);
  return all.back();
}

}  // namespace fathom::base

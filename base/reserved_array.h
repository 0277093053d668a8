// SPDX-License-Identifier: BSD-3-Clause
// An array that grows without allocating: address space for `capacity` elements is reserved at
// once, and memory is taken page by page as elements are appended.
//
// Elements never move, so pointers to them stay valid, and the used part can be written to a file
// as it is, even from a signal handler. append() is a store and an add, so it may run inside a
// callback of the MPI library. Threading: one writer at a time; not copyable.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <type_traits>

namespace fathom::base {

template <typename T>
class ReservedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  ReservedArray() = default;
  ReservedArray(const ReservedArray&) = delete;
  ReservedArray& operator=(const ReservedArray&) = delete;
  ~ReservedArray() { release(); }

  // False, with no change, if the address space is not available (`ulimit -v`).
  bool reserve(std::size_t capacity) {
    void* memory = mmap(nullptr, capacity * sizeof(T), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    release();
    data_ = static_cast<T*>(memory);
    capacity_ = capacity;
    return true;
  }

  void release() {
    if (data_ != nullptr) munmap(data_, capacity_ * sizeof(T));
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

  // Adds a zeroed element at the end; nullptr if the array is full.
  T* append() {
    if (size_ == capacity_) return nullptr;
    return data_ + size_++;
  }

  // Removes all elements and zeroes their memory. Cold: touches every used page.
  void clear() {
    for (std::size_t i = 0; i < size_; ++i) data_[i] = T{};
    size_ = 0;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace fathom::base
